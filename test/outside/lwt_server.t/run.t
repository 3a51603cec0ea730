A server of cohttp-lwt-unix that shares structures with Eio and a pool of domains.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-domainslib concord-eio concord-lwt
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

A server of cohttp-lwt-unix that ends while it is answering. The program ends by itself, so no channel keeps it.

  $ run ends
  a body is finished
    the client has: begun, continued, ended
    the server has ended
  an idle connection is closed
    the client has: hello, and ""
    the server has ended
  a request is read to its end
    received: first, then
    the server has ended
  a body that fails is cut
    complete: false
    the server has ended
  a body that never ends is cut
    the client has: 5 "begun\r\n", complete: false
    the writer has ended first: true
    the server has ended
  a client that reads nothing
    the server has ended
