Threads in a row. Styles with light threads have a hundred thousand:

  $ ./chain.exe --style threads -n 100 | grep -v ' s$'
  result: 100
  as computed sequentially: yes
  $ for style in callcc delimited trampoline continuation promise events
  > do ./chain.exe --style $style -n 100000 | grep -v ' s$'
  > done
  result: 100000
  as computed sequentially: yes
  result: 100000
  as computed sequentially: yes
  result: 100000
  as computed sequentially: yes
  result: 100000
  as computed sequentially: yes
  result: 100000
  as computed sequentially: yes
  result: 100000
  as computed sequentially: yes

The system cannot create as many threads:

  $ (ulimit -v 1500000 && ./chain.exe --style threads -n 10000) > out 2> err
  [1]
  $ sed 's/[0-9][0-9]* threads/N threads/' err
  Concord_styles.Threads: there are N threads, and one more could not be created (Thread.create: Resource temporarily unavailable)
