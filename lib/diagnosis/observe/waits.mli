(** The tasks that wait, while the program keeps them.

    None of these functions suspends. All are safe from any domain and thread.
*)

type state =
  | Not_yet  (** The task checks whether it must wait. *)
  | Waiting
  | Resumed  (** Its host has not continued it yet. *)
  | Over

type t = {
  number : int;  (** In the order in which they began. *)
  who : Who.t;
  begun_ns : int64;
  mutable resumed_ns : int64;
      (** The time when it was {!constructor-Resumed}. *)
  waits_at : Printexc.raw_backtrace;
  targets : Target.t list;
  state : state Atomic.t;
  process : int;
      (** The process in which a thread began it. It is 0 for other tasks. *)
}

val keep : unit -> unit
(** From now on, the program keeps its waits. *)

val during :
  who:Who.t ->
  Target.t list ->
  (('a Concord_suspend.resumer -> 'a option) -> 'a) ->
  ('a Concord_suspend.resumer -> 'a option) ->
  'a
(** [during ~who targets suspend block] is [suspend block]. It is a wait from
    the moment when [block] has returned [None] until the resumer returns
    [true], or [suspend] raises. It keeps nothing alive that the suspension does
    not. It first raises an exception that came too late for the thread's last
    wait. *)

val all : unit -> t list
(** The tasks that wait now, in the order of their numbers. In the child of a
    fork the threads of the parent are not among them. *)

val resumed : unit -> t list
(** The tasks that were resumed, and have not continued, in the order of their
    numbers. They are ready, but the loop of some of them may stand still. *)

val begun : unit -> int
(** The number of waits that have ever begun. *)

(** {2 Running tasks} *)

type running = {
  thread : int;  (** Of the system, as [Thread.id]. *)
  on_domain : int;
  task : Who.t;
  since : int64;  (** When it continued. *)
  waited_at : Printexc.raw_backtrace;
      (** Where it had waited, or where it was forked if it has not waited. *)
  has_waited : bool;
}

val running : unit -> running list
(** The task that began or continued last in each thread, unless a task has
    begun to wait there since. It may have ended, and other tasks may have run.
    At most 256 threads. *)

val from_begin :
  forked_at:Printexc.raw_backtrace -> ask:(unit -> Who.t) -> (unit -> 'a) -> 'a
(** [from_begin ~forked_at ~ask f] is [f ()], in a new task that is {!running}
    from now on. *)

(** {2 Operations that have no stack while they wait}

    These are the operations of the indirect styles. The task that waits there
    is not known, so each operation is a task of its own. *)

val operation :
  host:string ->
  Target.t ->
  ('a Concord_suspend.resumer -> 'a option) ->
  ('a Concord_suspend.resumer -> 'a option) * (unit -> unit)
(** [operation ~host target block] is [(block', ended)]. If you suspend by
    [block'], it is a wait as above, at the caller's frames, until [ended ()] is
    called. Call [ended] when the operation has been performed, has failed, or
    was cancelled. *)
