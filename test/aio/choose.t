You can choose how descriptors are waited for:

  $ CONCORD_AIO=poll ./choose.exe
  read

If the system has an io_uring, it is used. The probe asks the system:

  $ expected() { if [ "$(./probe/ring_probe.exe)" = yes ]; then echo "read by a ring"; else echo "$1"; fi; }
  $ CONCORD_AIO= ./choose.exe >found; expected "read" | diff - found
  $ CONCORD_AIO=io_uring ./choose.exe >found; expected "$(cat found)" | diff - found

Any other word is refused once a task waits:

  $ CONCORD_AIO=kqueue ./choose.exe
  CONCORD_AIO=kqueue: kqueue is unknown, use the words poll, io_uring and domain

A contradiction is refused too:

  $ CONCORD_AIO=poll,io_uring ./choose.exe
  CONCORD_AIO=poll,io_uring: use either poll or io_uring, not both
