The author of a scheduler. The library needs only the contract.

  $ . ../project.sh
  $ install concord-suspend
  $ build lib
  $ install concord concord-core
  $ build
  $ run test/tries
  first was cancelled
  second has 1
  third has 2
  has 3
  locked: true
  too late
  both: 3
  cancelled: false
  in a task of Fifo: 3
  Fifo in a task
