The first numbers of the form 2^a 3^b 5^c, in each style:

  $ for style in threads callcc delimited trampoline continuation promise events
  > do ./kpn.exe --style $style -n 12 | sed 's/[0-9.]* s$/(time)/'
  > done
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes
  set-up: (time)
  run: (time)
  result: 1 2 3 4 5 6 8 9 10 12 15 16
  as computed sequentially: yes

Larger numbers are refused, because five times the next result would not fit into an int:

  $ ./kpn.exe -n 10855 | grep -v ' s$'
  result: 1 2 3 4 5 6 ... 918330048000000000 919366980732421875 921600000000000000
  as computed sequentially: yes
  $ ./kpn.exe -n 10856
  Usage: kpn [--help] [-d] [-n N] [--style=STYLE] [OPTION]…
  kpn: option -n: must be from 0 to 10855
  [124]

The threads are set up, but not started:

  $ ./kpn.exe -n 10 -d | sed 's/[0-9.]* s$/(time)/'
  set-up: (time)
