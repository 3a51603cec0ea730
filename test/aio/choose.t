How descriptors are waited for can be chosen:

  $ CONCORD_AIO=poll ./choose.exe
  read

Where there is an io_uring, which the probe asks the system, it is taken:

  $ expected() { if [ "$(./probe/ring_probe.exe)" = yes ]; then echo "read by a ring"; else echo "$1"; fi; }
  $ CONCORD_AIO= ./choose.exe >found; expected "read" | diff - found
  $ CONCORD_AIO=io_uring ./choose.exe >found; expected "$(cat found)" | diff - found

What is neither is refused, once somebody waits:

  $ CONCORD_AIO=kqueue ./choose.exe
  CONCORD_AIO=kqueue: kqueue is unknown, use the words poll, io_uring and domain

What contradicts itself is refused, too:

  $ CONCORD_AIO=poll,io_uring ./choose.exe
  CONCORD_AIO=poll,io_uring: use either poll or io_uring, not both
