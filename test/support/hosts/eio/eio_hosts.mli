val fibers : Test_host.t
(** Fibers of one switch. *)
