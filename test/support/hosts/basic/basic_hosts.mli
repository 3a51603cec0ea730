(** The hosts that need no library except Concord. *)

val fifo : Test_host.t
val lazy_fifo : Test_host.t

val threads : Test_host.t
(** The body runs in the calling thread. *)

val domains : Test_host.t
(** Each task is a domain. The body runs in the calling domain. *)

val workers : Test_host.t
(** The tasks are jobs of two workers. The body runs in the calling thread. *)

val one_worker : Test_host.t

val submit_to_any : (unit -> 'a) -> 'a Concord.Promise.t * (unit -> bool)
(** Submits a job to workers that run a body now, and returns the function that
    cancels it. *)
