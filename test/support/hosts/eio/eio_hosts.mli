val fibers : Test_host.t
(** The fibers of one switch. *)
