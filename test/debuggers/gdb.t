A breakpoint in a task below a handler: gdb shows the task's frames in their order, and below them the frame that runs the
scheduler, with a switch of stacks before the handler and before the scheduler.

  $ gdb -batch -ex 'break prog.ml:4' -ex run -ex bt ./prog.exe 2>/dev/null |
  >   sed -nE 's/^#[0-9]+ .*Prog[._]+(leaf|task|below|entry).*/\1/p; s/^#[0-9]+ .*signal handler called.*/a switch/p' |
  >   sed '/entry/q' | uniq
  leaf
  task
  a switch
  below
  a switch
  entry
