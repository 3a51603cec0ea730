Every row is measured and written, with figures that are figures:

  $ ./main.exe --smoke --json results.json >table 2>progress
  $ ./smoke.exe results.json
  mvar serial eio eio ns
  mvar serial concord fifo ns
  mvar serial concord eio ns
  mvar serial concord eio-unlinked ns
  mvar serial lwt lwt ns
  mvar parallel eio eio ns
  mvar parallel concord fifo ns
  mvar parallel concord eio ns
  mvar parallel concord eio-unlinked ns
  suspend perform stdlib stdlib ns
  suspend suspend concord fifo ns
  suspend yield eio eio ns
  suspend yield concord fifo ns
  suspend fork-join eio eio ns
  suspend fork-join concord fifo ns
  suspend blocked-task-bytes eio eio bytes
  suspend blocked-task-bytes concord fifo bytes
  suspend blocked-taker-bytes eio eio bytes
  suspend blocked-taker-bytes concord fifo bytes

What cannot be measured is said before anything is:

  $ ./main.exe --smoke mvar no-such-group
  bench: unknown group "no-such-group" (there are mvar, suspend)
  [2]
  $ ./main.exe --smoke mvar --json no-such-folder/file
  bench: no-such-folder/file: No such file or directory
  [2]
