(** A job of {!Workers}, and its pool.

    A job is a host's task. It is a function that runs in a handler of effects,
    on one worker at a time. If it waits, its worker is free, and any worker
    continues it later. *)

type t
type pool

exception Cancelled
exception Lost

val create_pool : ?name:string -> workers:int -> unit -> pool

(** {1 Jobs} *)

val create : pool -> 'a Promise.t -> (t -> 'a) -> t
(** [create pool promise f] is a job before its submission. It resolves
    [promise] with the result of [f]. *)

val submit : t -> unit
(** [submit job] lets the workers run [job]. If the pool has ended, the job's
    promise fails with {!Lost}. If it raises, the job was submitted, or nothing
    has happened. *)

val withdraw : t -> bool
(** [withdraw job] makes the promise fail with {!Cancelled}, and the job never
    begins. It is [false] if the job has begun, or was withdrawn. It doesn't
    have to be submitted. *)

val tell_to_stop : t -> unit
(** [tell_to_stop job] ends the wait of [job] by {!Cancelled}, and its later
    waits. *)

val is_told : t -> bool
(** [true] after {!tell_to_stop}. One read. *)

(** {1 Workers} *)

type worker

val workers : pool -> worker list

val serve :
  pool ->
  worker ->
  suspend:((unit Suspend.resumer -> unit option) -> unit) ->
  unit
(** [serve pool worker ~suspend] runs jobs on the calling thread. It returns
    when the pool has ended. If there is nothing to run, it calls
    [suspend block], which suspends the thread. *)

(** {1 The end of the pool}

    The pool ends when {!leave} was called and all jobs have ended. Until then
    jobs can be submitted, for example by other jobs. One thread calls these
    functions, in this order. *)

val leave : pool -> unit

val drained : pool -> unit Promise.t
(** The promise is filled when the pool has ended. *)

val tell_all_to_stop : pool -> unit
(** Tells all jobs to stop, and all later ones. If a job hasn't begun, it fails
    with {!Cancelled} when a worker takes it. *)

val lose_all : pool -> unit
(** Makes the promises of all jobs fail with {!Lost}, even if the jobs are
    submitted later. Started jobs continue, and the pool still ends when they
    have ended. *)
