Async's own scheduler, in a program that links the adapter but doesn't name it.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-async
  $ build
  $ run linked
  Concord_async.In_job
