Lwt's own loop, in a program that links the adapter but doesn't name it.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-lwt
  $ build
  $ run linked
  the task was suspended
  Concord_lwt.In_callback
