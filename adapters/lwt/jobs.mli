(** Jobs of other threads for Lwt's loop. *)

exception No_loop

type job = {
  run : finally:(unit -> unit) -> unit;
      (** Begins the job, and calls [finally] in the loop's thread when it has
          ended. Raises nothing. *)
  cancel : unit -> unit;
      (** Called in the loop's thread, to ask the job to end. Does nothing if it
          has. *)
  refuse : unit -> unit;
      (** Called if the loop ends first. Does nothing if the job has ended. *)
}

val post : ring:(unit -> unit) -> job -> unit
(** [post ~ring job] adds the job. Any thread may call it, also in a signal
    handler. [ring] wakes the loop, if that sleeps. If the loop has ended, the
    job is refused. Before the first loop it waits for that. O(1). *)

(** {2 For the loop} *)

val serve : unit -> bool
(** Begins the jobs that were posted, in that order. It is [false] if there were
    none. *)

val none_runs : unit -> bool
(** Each job that has begun has ended. *)

val close : unit -> unit
(** The loop has ended. Refuses the jobs that have not. *)

val reopen : unit -> unit
(** A loop continues after all. *)

val when_idle : (unit -> unit) -> unit
(** [when_idle f] calls [f ()] once, at the first moment from now on at which
    each job that was posted has ended. A second call replaces [f] if it was not
    called yet. *)

val cancel_all : unit -> unit
(** Cancels each job that has begun and not ended. *)
