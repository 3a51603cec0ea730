(** The hosts that need no library except Concord. *)

val fifo : Test_host.t
val lazy_fifo : Test_host.t

val threads : Test_host.t
(** The body runs in the calling thread. *)

val domains : Test_host.t
(** Each task is a domain. The body runs in the calling domain. *)
