(** Puts jobs into a pool, and notices when all of them have ended. *)

exception Torn_down

type t
(** The state of one pool. *)

(** {2 Jobs} *)

type work = {
  start : unit -> unit;  (** Raises nothing of its own. *)
  fail : exn -> Printexc.raw_backtrace -> unit;
      (** Does nothing if the job has ended. *)
}

type job

val job : work -> job
(** A job. Post it once. *)

val job_aside : work -> job
(** Likewise, but {!drain} does not wait for it. *)

val work : 'a Concord.Promise.t -> (unit -> 'a) -> work
(** Resolves the promise. *)

val cancellable : 'a Concord.Promise.t -> (unit -> 'a) -> job * (unit -> bool)
(** {!work} with a function that withdraws it. If the function is called before
    the job starts, the promise fails, the job never starts, and the result is
    [true]. *)

val post : t -> job -> unit
(** Any thread may call it. *)

val drain : t -> unit
(** Waits for a moment at which as many jobs have ended as were posted. *)

val lose : t -> unit
(** Call it when the pool has been torn down. Each job that has not ended fails
    with {!Torn_down}, and counts as ended. So do jobs that are posted later. *)

(** {2 The porter} *)

type started
(** The jobs that one domain has started. *)

val nothing_started : unit -> started

val create : here:(unit -> started) -> domains:started list Atomic.t -> t
(** [here ()] are the jobs of the calling domain, which are also in [domains].
    Turns and the porter call it, on the domain on which they run. *)

val serve : Domainslib.Task.pool -> t -> unit
(** The task that is the porter. It does not return as long as the pool is
    alive. *)

val is_alive : Domainslib.Task.pool -> bool
(** [true] if the pool was not torn down. *)
