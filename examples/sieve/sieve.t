The first primes, in each style:

  $ for style in threads callcc delimited trampoline continuation promise events
  > do ./sieve.exe --style $style -n 100 | grep -v ' s$'
  > done
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes
  result: 2 3 5 7 11 13 ... 521 523 541
  as computed sequentially: yes

The threads are set up, but not started. Then a sieve has nothing to do:

  $ ./sieve.exe --style callcc -n 1000 -d | sed 's/[0-9.]* s$/(time)/'
  set-up: (time)
  $ ./sieve.exe --style events -n 0 | sed 's/[0-9.]* s$/(time)/'
  set-up: (time)
  run: (time)
  result: nothing
  as computed sequentially: yes

Wrong options are refused:

  $ ./sieve.exe --style fibers
  Usage: sieve [--help] [-d] [-n N] [--style=STYLE] [OPTION]…
  sieve: option --style: invalid value fibers, expected one of threads, callcc,
         delimited, trampoline, continuation, promise or events
  [124]
  $ ./sieve.exe -n ten
  Usage: sieve [--help] [-d] [-n N] [--style=STYLE] [OPTION]…
  sieve: option -n: invalid value ten, expected an integer
  [124]
  $ ./sieve.exe -n-1
  Usage: sieve [--help] [-d] [-n N] [--style=STYLE] [OPTION]…
  sieve: option -n: must be from 0 to 1000000
  [124]

  $ ./sieve.exe --help=plain | sed -n '/^SYNOPSIS/,/^COMMON/p'
  SYNOPSIS
         sieve [-d] [-n N] [--style=STYLE] [OPTION]…
  
  DESCRIPTION
         Runs a program of "Light Weight Concurrency in OCaml" on the threads
         of any style of concord-schedulers.styles. It prints its time and its
         result, and compares the result with a sequential computation. If they
         differ, it exits with code 1.
  
  OPTIONS
         -d  Spawn the threads, but don't start them.
  
         -n N (absent=1000)
             The number of primes.
  
         --style=STYLE (absent=trampoline)
             The kind of threads, one of threads, callcc, delimited,
             trampoline, continuation, promise, events.
  
  COMMON OPTIONS
