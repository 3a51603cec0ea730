A server in Eio that uses a pool of domains for computations, over sockets.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-domainslib concord-eio
  $ build
  $ run primes
  4, 9592
  25, not a number
  168, too large
  primes: 7 requests
  stopped
