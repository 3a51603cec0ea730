A thread for each of N (N - 1) / 2 comparisons, in each style:

  $ for style in threads callcc delimited trampoline continuation promise events
  > do ./sorter.exe --style $style -n 30 | grep -v ' s$'
  > done
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes
  result: 3 6 16 17 26 31 ... 260 264 271
  as computed sequentially: yes

The two smallest lists, and a list for 124,750 threads:

  $ for n in 0 1 500; do ./sorter.exe --style delimited -n $n | grep -v ' s$'; done
  result: nothing
  as computed sequentially: yes
  result: 4
  as computed sequentially: yes
  result: 8 11 21 39 42 46 ... 4977 4978 4978
  as computed sequentially: yes

The threads are set up, but not started:

  $ ./sorter.exe -n 100 -d --style threads | sed 's/[0-9.]* s$/(time)/'
  set-up: (time)
