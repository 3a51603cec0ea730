The cookbook's recipe for tests, in a separate project: tasks in a random order, and
CONCORD_DEBUG=leaks.

  $ . ../project.sh
  $ install concord concord-suspend concord-schedulers
  $ build @runtest | grep -v '^Raised\|^Called'
  Cache: 1
  without Lazy: 1 2
  nothing can resume it
  concord: what could have resumed a task is gone. The task waits here:
