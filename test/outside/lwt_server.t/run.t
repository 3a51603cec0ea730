A server of cohttp-lwt-unix that shares structures with Eio and a pool of domains.

  $ . ../project.sh
  $ install concord concord-suspend concord-domainslib concord-eio concord-lwt
  $ build
  $ run board
  Lwt_main.run
    fib/25    75025
    table     0 1 1 2 3 5 8 13 21 34
    note/milk noted
    fib/20    6765
    table     0 1 1 2 3 5 8 13 21 34
    slow      not yet, then at last
    nothing   404 Not Found
    ticket 1, ticket 2
    kept: milk
  Concord_lwt.run
    fib/25    75025
    table     0 1 1 2 3 5 8 13 21 34
    note/milk noted
    fib/20    6765
    table     0 1 1 2 3 5 8 13 21 34
    slow      not yet, then at last
    nothing   404 Not Found
    ticket 1, ticket 2
    kept: milk
