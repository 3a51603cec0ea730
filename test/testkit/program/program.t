The arguments select the clauses:

  $ ./own_host.exe H1 S4
  a host (seed 1)
  H1  kept    block is called once, and the task continues only after block has ended
  S4  kept    waiting tasks are served in the order of arrival
  2 kept, 0 broken, 0 not offered
  $ BREAK=run ./own_host.exe H1
  a host (seed 1)
  H1  BROKEN  block returns Some v: raised Failure("no loop")
      rule:   block is called once, and the task continues only after block has ended
      read:   For authors of schedulers, "The handler"
  0 kept, 1 broken, 0 not offered
  Concord_suspend has the contract. The pages "For authors of schedulers" and "Writing a structure" explain this report.
  [1]
  $ ./own_host.exe H1 H9
  Host.check: there is no clause H9. The clauses are reach, turns, H1, H2, H3, H4, S1, S2, S3, S4, S5, backtraces, inside, nested, around, foreign, domains, protect, queued, fair, failures, end, stack, idle, signals
  [2]
  $ CONCORD_SEED=many ./own_operation.exe
  CONCORD_SEED is not a number: many
  [2]
  $ CONCORD_SEED=5 ./own_operation.exe | sed -n '1p;$p'
  take (seed 5)
  14 kept, 0 broken, 7 not offered
  $ CONCORD_SEED=5 BREAK=1 ./own_operation.exe >report
  [1]
  $ head -n 1 report
  take (seed 5)

Each line is printed as soon as its clause has been checked. Only the second of these clauses starts tasks, and then it kills the program:

  $ BREAK=spawn ./own_host.exe H1 S4 >report
  [141]
  $ cat report
  a host (seed 1)
  H1  kept    block is called once, and the task continues only after block has ended
