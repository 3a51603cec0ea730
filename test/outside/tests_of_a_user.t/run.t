The recipe of the cookbook on tests, in a project of its own: tasks in an order that is drawn, and CONCORD_DEBUG=leaks.

  $ . ../project.sh
  $ install concord concord-suspend concord-schedulers
  $ build @runtest | grep -v '^Raised\|^Called'
  Cache: 1
  without Lazy: 1 2
  nothing can resume it
  concord: nothing can resume this task any longer, because its resumer was garbage-collected. The task waits here:
