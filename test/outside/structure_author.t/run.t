The author of a structure. It is an exchanger, made with Structure_kit, on three hosts.

  $ . ../project.sh
  $ install concord concord-core concord-suspend
  $ build
  $ run test/tries
  a thread
    the first has b, the second a
    alone, it waits; waiters left: 0
    of two choices the first has b, the second a; waiters left: 0
    after a cancellation: b, a
  Fifo
    the first has b, the second a
    alone, it waits; waiters left: 0
    of two choices the first has b, the second a; waiters left: 0
    after a cancellation: b, a
  Eio
    the first has b, the second a
    alone, it waits; waiters left: 0
    of two choices the first has b, the second a; waiters left: 0
    after a cancellation: b, a
  between two: the thread has the fiber's, the fiber the thread's
  each of 2000 values once: true
