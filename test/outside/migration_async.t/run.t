The same program with the structures of Async and with those of Concord.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-async
  $ build
  $ run before > expected
  $ cat expected
  sum 6
  line one
  line two
  answer 42
  too late
  permit 2
  $ run after | diff expected -
