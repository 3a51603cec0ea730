(** The common part of the light styles. It has threads that are started
    together, their turns, and their waits.

    Each system thread has a group of its own for each style. The first {!spawn}
    creates it, and it ends when {!Loop.start} returns. *)

open Concord.Tools

exception Deadlock of int
exception Ended

(** {2 The records}

    Only the thread that started a group uses it. However, any thread posts to
    [turns], and reads [bell], which is written before the loop announces that
    it sleeps. *)

(** Once the group is stopped, a [Call] is dropped. The other turns are not,
    because a stack has to be unwound, and an outcome that was promised (H3) is
    delivered. *)
type turn =
  | Call of { f : unit -> unit; mutable has_begun : bool }
  | Go_on of { f : unit -> unit; mutable has_begun : bool }
  | Deliver : 'a wait -> turn

and 'a wait = {
  decision : 'a Host_kit.Decision.t;
  go_on : ('a, exn) result -> unit;
  protected : bool;
  mutable index : int;  (** The index in [waits], or -1 once it is delivered. *)
}

type any_wait = Wait : 'a wait -> any_wait [@@unboxed]

(** Where a group is found. Before it is started, and while its loop runs, that
    is in its thread. *)
type phase = Before_start | Running | Away

type ending = Not_yet | Stopping | Failing of exn * Printexc.raw_backtrace

type 'd t = {
  data : 'd;
  mutable thread : int;
      (** The thread that runs it. A host may continue in another one. *)
  host : Host_kit.t;
  turns : turn Host_kit.Inbox.t;
  mutable has_performed : bool;  (** Since {!val-turn} was called. *)
  mutable bell : unit Suspend.resumer;
  mutable phase : phase;
  mutable ending : ending;
  mutable waits : any_wait array;  (** The first [n_waits] of them. *)
  mutable n_waits : int;
  mutable in_host : bool option;
      (** [true] if the task that started it is one of several of a host, once
          that is known. *)
  spin : Host_kit.Spin.t;
}
(** A group. *)

type 'd style = {
  name : string;
  create : unit -> 'd;
  clear : 'd -> unit;
  groups : 'd t list Atomic.t Domain.DLS.key;
      (** The groups of the domain's threads, except for those whose loops
          sleep. Each thread adds and removes its own, and may be switched at
          any time. *)
}
(** A style. Each of its groups has a ['d] of its own. *)

val style : ?clear:('d -> unit) -> name:string -> (unit -> 'd) -> 'd style
(** [clear d] is called when the group with [d] is stopped. *)

val name : 'd style -> string

(** {2 For the main program} *)

val spawn : 'd style -> (unit -> unit) -> unit
(** The function is called in a turn of its own, once the group is started. A
    thread of the group may call [spawn] too. *)

(** {2 For threads} *)

val running : 'd style -> 'd t
(** The calling thread's group.

    - {b Raises} [Invalid_argument] if it has none, or that was not started. *)

val host : 'd t -> Host_kit.t

val host_of_caller : 'd style -> Host_kit.t option
(** The host of the calling thread's group, if there is one that was started. *)

val data : 'd t -> 'd

val turn : 'd t -> bool
(** Performs the next turn. It is [false] if no thread is ready. *)

val enqueue : 'd t -> (unit -> unit) -> unit
(** The function is called in a turn, or never if the group is stopped before.
*)

val enqueue_stack : 'd t -> (unit -> unit) -> unit
(** {!enqueue}, except that the function is called in any case, because it
    continues a stack that has to be unwound. The thread then calls
    {!raise_if_stopped}. *)

val raise_if_stopped : 'd t -> unit
(** Raises {!Ended} if the group was stopped. *)

val wait :
  'd t ->
  protected:bool ->
  ('a Suspend.resumer -> 'a option) ->
  (('a, exn) result -> unit) ->
  unit
(** [wait t ~protected block go_on] does the same as a host does with
    [Suspend block]. It calls [go_on] with the outcome, at once or in a turn. If
    the group is stopped first, the outcome is [Error Ended], unless the wait is
    [protected]. *)

(** {2 For the loop} *)

val find : 'd style -> 'd t option
(** The calling thread's group. *)

val enter : 'd style -> 'd t -> unit
(** The calling thread has the group, until {!leave}. *)

val leave : 'd style -> 'd t -> unit
val is_ready : 'd t -> bool

val is_ending : 'd t -> bool
(** [true] if it was stopped. *)

val resume_all : 'd t -> even_protected:bool -> unit
(** All threads that wait continue with [Ended], unless they were resumed
    before. *)
