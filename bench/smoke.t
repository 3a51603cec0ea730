Every row is measured and written, with figures that are figures:

  $ ./main.exe --smoke --json results.json >table 2>progress
  $ ./smoke.exe results.json >rows
  $ grep -v ' go go ' rows
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
  structures mutex-free eio eio ns
  structures mutex-free concord fifo ns
  structures mutex-free concord eio ns
  structures mutex-free lwt lwt ns
  structures mutex-free stdlib domain ns
  structures mutex-contended eio eio ns
  structures mutex-contended concord fifo ns
  structures mutex-contended concord eio ns
  structures mutex-contended lwt lwt ns
  structures mutex-contended-100000 eio eio ns
  structures mutex-contended-100000 concord fifo ns
  structures mutex-contended-100000 concord eio ns
  structures mutex-contended-100000 lwt lwt ns
  structures mutex-parallel eio eio ns
  structures mutex-parallel concord fifo ns
  structures mutex-parallel concord eio ns
  structures mutex-parallel stdlib domain ns
  structures mutex-cancel-10 eio eio ns
  structures mutex-cancel-10 concord fifo ns
  structures mutex-cancel-10 concord eio ns
  structures mutex-cancel-10000 eio eio ns
  structures mutex-cancel-10000 concord fifo ns
  structures mutex-cancel-10000 concord eio ns
  structures mutex-cancel-100000 eio eio ns
  structures mutex-cancel-100000 concord fifo ns
  structures mutex-cancel-100000 concord eio ns
  structures promise-cancel-10000 eio eio ns
  structures promise-cancel-10000 concord fifo ns
  structures promise-cancel-10000 concord eio ns
  structures semaphore-free eio eio ns
  structures semaphore-free concord fifo ns
  structures semaphore-free concord eio ns
  structures semaphore-free stdlib domain ns
  structures semaphore-contended eio eio ns
  structures semaphore-contended concord fifo ns
  structures semaphore-contended concord eio ns
  structures condition-signal eio eio ns
  structures condition-signal concord fifo ns
  structures condition-signal concord eio ns
  structures condition-signal lwt lwt ns
  structures condition-signal stdlib thread ns
  structures condition-parallel eio eio ns
  structures condition-parallel concord fifo ns
  structures condition-parallel concord eio ns
  structures condition-parallel stdlib domain ns
  structures rwlock-read-free concord fifo ns
  structures rwlock-read-free concord eio ns
  structures rwlock-write-free concord fifo ns
  structures rwlock-write-free concord eio ns
  structures barrier-serial eio eio ns
  structures barrier-serial concord fifo ns
  structures barrier-serial concord eio ns
  structures stream1-serial eio eio ns
  structures stream1-serial concord fifo ns
  structures stream1-serial concord eio ns
  structures stream1-serial lwt lwt ns
  structures stream1-serial kcas eio ns
  structures stream100-serial eio eio ns
  structures stream100-serial concord fifo ns
  structures stream100-serial concord eio ns
  structures stream100-serial lwt lwt ns
  structures stream10000-serial eio eio ns
  structures stream10000-serial concord fifo ns
  structures stream10000-serial concord eio ns
  structures stream10000-serial lwt lwt ns
  structures stream1-parallel eio eio ns
  structures stream1-parallel concord fifo ns
  structures stream1-parallel concord eio ns
  structures stream1-parallel domainslib domain ns
  structures stream1-parallel kcas domain ns
  structures stream100-parallel eio eio ns
  structures stream100-parallel concord fifo ns
  structures stream100-parallel concord eio ns
  structures stream100-parallel domainslib domain ns
  structures mailbox-serial eio eio ns
  structures mailbox-serial concord fifo ns
  structures mailbox-serial concord eio ns
  structures mailbox-serial lwt lwt ns
  structures mailbox-serial kcas eio ns
  structures mailbox-parallel eio eio ns
  structures mailbox-parallel concord fifo ns
  structures mailbox-parallel concord eio ns
  structures mailbox-parallel domainslib domain ns
  structures mailbox-parallel kcas domain ns
  structures broadcast-serial eio eio ns
  structures broadcast-serial concord fifo ns
  structures broadcast-serial concord eio ns
  structures channel-serial eio eio ns
  structures channel-serial concord fifo ns
  structures channel-serial concord eio ns
  structures channel-serial stdlib thread ns
  structures channel-parallel eio eio ns
  structures channel-parallel concord fifo ns
  structures channel-parallel concord eio ns
  structures channel-parallel stdlib domain ns
  structures channel-parallel domainslib domain ns
  event sync-serial no-event fifo ns
  event sync-serial concord fifo ns
  event sync-serial no-event eio ns
  event sync-serial concord eio ns
  event select4-serial eio eio ns
  event select4-serial concord fifo ns
  event select4-serial concord eio ns
  event select4-serial stdlib thread ns
  event select4-ready concord fifo ns
  event select4-ready concord eio ns
  event select4-parallel eio eio ns
  event select4-parallel concord fifo ns
  event select4-parallel concord eio ns
  event select4-parallel stdlib domain ns
  event swap-serial concord fifo ns
  event swap-serial concord eio ns
  event swap-serial stdlib thread ns
  event timeout-pending eio eio ns
  event timeout-pending concord fifo ns
  event timeout-pending concord eio ns
  event timeout-pending lwt lwt ns
  event timeouts-100000 eio eio bytes
  event timeouts-100000 concord fifo bytes
  event timeouts-100000 concord eio bytes
  lazy forced stdlib domain ns
  lazy forced stdlib-boxed domain ns
  lazy forced concord domain ns
  lazy forced concord fifo ns
  lazy forced concord eio ns
  lazy forced stdlib-mutex domain ns
  lazy forced eio eio ns
  lazy first-force stdlib domain ns
  lazy first-force stdlib-lazy domain ns
  lazy first-force concord domain ns
  lazy first-force concord fifo ns
  lazy first-force concord eio ns
  lazy first-force stdlib-mutex domain ns
  lazy first-force eio eio ns
  lazy wait-1000 eio eio ns
  lazy wait-1000 concord fifo ns
  lazy wait-1000 concord eio ns
  lazy wait-10000 eio eio ns
  lazy wait-10000 concord fifo ns
  lazy wait-10000 concord eio ns
  lazy wait-100000 eio eio ns
  lazy wait-100000 concord fifo ns
  lazy wait-100000 concord eio ns

Those of Go, where Go is installed; else the report says that they are missing:

  $ if command -v go >/dev/null; then grep -c ' go go \(ns\|bytes\)$' rows; else grep 'Go was not' table >/dev/null && echo 28; fi
  28

What cannot be measured is said before anything is:

  $ ./main.exe --smoke mvar no-such-group
  bench: unknown group "no-such-group" (there are mvar, suspend, structures, event, lazy)
  [2]
  $ ./main.exe --smoke mvar --json no-such-folder/file
  bench: no-such-folder/file: No such file or directory
  [2]
