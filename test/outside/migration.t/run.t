The same program with the structures of another library and with those of Concord. Both print
the same.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-domainslib concord-eio concord-lwt
  $ build
  $ migrate() { run "$1/before" >expected; cat expected; run "$1/after" | diff expected -; }

  $ migrate stdlib
  sum 114
  permits left 1
  answer 42
  not locked
  another domain locked it

  $ migrate eio
  +sum 15
  +no more
  +visits 3
  +ready
  +too late
  +first
  +84, computed 1

  $ migrate lwt
  sum 6
  line one
  line two
  full true
  ready
  fast
  too late
  answer 42

  $ migrate kcas
  current 100
  savings 5
  sum 6
  right

  $ migrate domainslib
  1 3 5 6
  empty
