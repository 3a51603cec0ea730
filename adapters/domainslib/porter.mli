(** How jobs get into a pool, and when all of them have ended. *)

exception Torn_down

type t
(** What one pool has. *)

(** {2 Jobs} *)

type work = {
  start : unit -> unit;  (** Raises only what a signal handler raises. *)
  fail : exn -> Printexc.raw_backtrace -> unit;
      (** Does nothing if the job has ended. *)
}

type job

val job : work -> job
(** To be posted once. *)

val job_aside : work -> job
(** Likewise, but {!drain} does not wait for it. *)

val work : 'a Concord.Promise.t -> (unit -> 'a) -> work
(** Resolves the promise. *)

val cancellable :
  cancelled:exn -> 'a Concord.Promise.t -> (unit -> 'a) -> job * (unit -> bool)
(** {!work}, unless the function is called before it starts: then the promise
    fails with [cancelled], and the answer is [true]. *)

val post : t -> job -> unit
(** Any thread may call it. *)

val drain : t -> unit
(** Waits for a moment at which as many jobs have ended as were posted. *)

val drain_by : (unit Concord.Promise.t -> bool) -> t -> bool
(** {!drain}, where the function awaits a promise. [false] as soon as that
    returns [false], because it does not wait any longer. *)

val lose : t -> unit
(** To be called when the pool has been torn down, or nobody will wait for its
    jobs any more: each job that has not ended fails with {!Torn_down}, and
    counts as ended. So do jobs that are posted later. *)

(** {2 The porter} *)

type started
(** The jobs that one domain has started. *)

val nothing_started : unit -> started

val create : here:(unit -> started) -> domains:started list Atomic.t -> t
(** [here ()] is that of the calling domain, and in [domains]. Turns call it,
    and the porter, on the domain on which they run. *)

val serve : Domainslib.Task.pool -> t -> unit
(** The task that is the porter; it does not return as long as the pool is
    alive. *)

val is_alive : Domainslib.Task.pool -> bool
(** Was the pool not torn down? *)
