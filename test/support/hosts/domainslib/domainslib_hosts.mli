val pool : Test_host.t
(** A pool of the calling domain alone: a task that blocks it blocks all tasks.
*)
