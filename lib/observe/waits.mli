(** The tasks that wait, while the program keeps them.

    None of these functions suspends. All are safe from any domain and thread,
    and in signal handlers. *)

val are_kept : unit -> bool
(** Is [waits] one of the words in [CONCORD_DEBUG], or was {!keep} called?
    {b Cost}: one read. *)

val keep : unit -> unit
(** From now on. *)

type holder = {
  by : Who.t;
  mutable since_ns : int;
  held_at : Printexc.raw_backtrace;  (** Where it took what it holds. *)
}

val held : Who.t -> holder
(** From now on, at the caller's frames. *)

val held_from_now : holder -> unit
(** It had to wait, and goes on now. *)

val not_held_yet : holder -> unit
(** It has to wait, until {!held_from_now}. *)

val is_held : holder -> bool
(** [false] from {!not_held_yet} to {!held_from_now}. *)

val not_ended : Who.t -> holder
(** A task that is waited for: it does so by not having ended. When it began is
    not known, and there are no frames. *)

type target = private {
  operation : string;  (** As ["Mvar.take"]. *)
  structure : Identity.pointer;
  holders : unit -> holder list;
      (** Those who can end a wait, if they are known: none once the structure
          was collected. *)
  state : unit -> string;
      (** What the structure has, as ["0 permits left"]; [""] if that says
          nothing, or the structure was collected. *)
  from_outside : bool;  (** Does the operating system end the wait? *)
}
(** Where a task waits. One that chooses waits in several targets. *)

val target :
  ?state:('structure -> string) ->
  ?from_outside:bool ->
  string ->
  'structure ->
  ('structure -> holder list) ->
  target
(** [target ~state operation structure holders]. The structure is not kept
    alive. *)

type state =
  | Not_yet  (** It looks whether it must wait. *)
  | Waiting
  | Resumed  (** Its host has not let it go on yet. *)
  | Over

type t = {
  number : int;  (** In the order in which they began. *)
  who : Who.t;
  begun_ns : int64;
  mutable resumed_ns : int64;  (** Of one that is {!constructor-Resumed}. *)
  waits_at : Printexc.raw_backtrace;
  targets : target list;
  state : state Atomic.t;
  process : int;  (** In which a thread began it; 0 of other tasks. *)
}

val during :
  who:Who.t ->
  target list ->
  (('a Concord_suspend.resumer -> 'a option) -> 'a) ->
  ('a Concord_suspend.resumer -> 'a option) ->
  'a
(** [during ~who targets suspend block] is [suspend block], and is a wait from
    when [block] has returned [None] until the resumer answers [true], or
    [suspend] raises. It keeps nothing alive that the suspension does not. First
    it raises what a signal handler raised when the thread's last wait ended. *)

val all : unit -> t list
(** Those that wait now, in the order of their numbers. In the child of a fork
    the threads of the parent are not among them. *)

val resumed : unit -> t list
(** Those that were resumed, and have not gone on: tasks that are ready, of
    which some may be of a loop that stands still. In the order of their
    numbers. *)

val begun : unit -> int
(** How many have ever begun. *)

(** {2 Who runs} *)

type running = {
  thread : int;  (** Of the system, as [Thread.id]. *)
  on_domain : int;
  task : Who.t;
  since : int64;  (** When it continued. *)
  waited_at : Printexc.raw_backtrace;  (** Where it had waited. *)
}

val running : unit -> running list
(** The task that continued last in each thread, unless a task has begun to wait
    there since. It may have ended, and other tasks may have begun and run. At
    most 256 threads. *)

(** {2 Operations that have no stack while they wait}

    Those of the indirect styles. Who waits there is not known: each is a task
    of its own. *)

val operation :
  host:string ->
  target ->
  ('a Concord_suspend.resumer -> 'a option) ->
  ('a Concord_suspend.resumer -> 'a option) * (unit -> unit)
(** [operation ~host target block] is [(block', ended)]. By [block'] it is a
    wait as above, at the caller's frames, until [ended ()]: it has been
    performed, has failed, or was cancelled. *)
