val pool : Test_host.t
(** A pool that has only the calling domain, so a task that blocks it blocks all
    tasks. *)
