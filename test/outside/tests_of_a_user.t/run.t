A user's project with the tests of the cookbook's recipe: tasks run in a random order, and CONCORD_DEBUG=leaks reports a
task that nothing can resume. The report goes to the standard error, and dune may print it before or after the rest.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-schedulers
  $ build @runtest >output || cat output
  $ grep -v '^concord\|^Raised\|^Re-raised\|^Called' output
  Cache: 1
  without Lazy: 1 2
  nothing can resume it

One report comes. Its text depends on whether the collector finds the task before the scheduler sleeps (test/unit/leaks).

  $ grep -c '^concord: .* The task waits here:$' output
  1
