How descriptors are waited for can be chosen:

  $ CONCORD_AIO=poll ./choose.exe
  read
  $ CONCORD_AIO= ./choose.exe
  read

What is neither is refused, once somebody waits:

  $ CONCORD_AIO=kqueue ./choose.exe
  CONCORD_AIO=kqueue: the values are poll and io_uring
