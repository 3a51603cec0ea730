The author of a library. It depends on concord-core alone. A program of threads does so, too. Another program links Concord, its
adapters, and the library, and its mutexes and promises are the library's.

  $ . ../project.sh
  $ install concord-core concord-suspend
  $ build test/threads.exe
  $ run test/threads
  threads: true
  $ install concord concord-aio concord-buffered concord-eio concord-lwt
  $ build test/hosts.exe
  $ run test/hosts
  Eio: others ran meanwhile
  Lwt_direct: others ran meanwhile
  Fifo: others ran meanwhile
  Domainslib: others ran meanwhile
  aio: others ran meanwhile
  threads: others ran meanwhile

What the compiler calls the types, in a program that uses Concord and in a library that doesn't:

  $ build wrong/program.exe 2>&1 | grep type
  Error: This expression has type Concord.Mutex.t
         but an expression was expected of type Tally.t
  $ build wrong/of_library.cma 2>&1 | grep type
  Error: This expression has type 'a Concord__Promise.t
         but an expression was expected of type Concord__Mutex.t
