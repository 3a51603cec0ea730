(** A structure, the tasks that wait in it, and their outcomes. *)

open Operation_signature

(** {1 The structure} *)

type way = {
  title : string;  (** [""] for the operation itself. *)
  through : (int -> int) -> (int -> int Concord.Event.t) option -> int -> int;
      (** The way to wait, by the operation or by its event. *)
}

val direct : way

val ways : (module OPERATION) -> way list
(** The operation. If it has an event, that too, and a choice of it. *)

type t = {
  service : service;
  keeps : bool;
  in_order : bool;
  interruptible : bool;
  repeats : bool;
  most : int;  (** The number of tasks that may wait. *)
  hand : Operation_hand.t;
  wait : int -> int;
  event : (int -> int Concord.Event.t) option;
  release_event : (int -> int Concord.Event.t) option;
  close : (exn * (unit -> unit)) option;
  fail : (exn -> Printexc.raw_backtrace -> unit) option;
  count : (unit -> int) option;
  release_with : int -> int;
  waiters : int Atomic.t;  (** The number of tasks that have come. *)
  releases : int Atomic.t;  (** The number of releases that were begun. *)
  released : int Atomic.t;
      (** The number of releases that have let a task continue, or will. *)
  served : int list Atomic.t;
      (** The tasks that continued, the last one first. *)
  brought : int list Atomic.t;  (** The numbers that went in. *)
  got : int list Atomic.t;  (** The numbers that came out. *)
  mutable pending : unit Operation_hand.task list;  (** Releases. *)
  fresh : unit -> t;  (** A new scene like this one, as it was at first. *)
}

val create : ?most:int -> (module OPERATION) -> way -> t
(** A new structure. [most] is 10. *)

val one_by_one : t -> bool
(** [true] if a release lets one task continue. *)

(** {1 On any host} *)

val wait : ?wait:(int -> int) -> t -> unit
(** Waits, with a number of its own, and notes what it gets. *)

val other : int
(** The result of [wait] if something else was chosen. Nothing is noted then. *)

val release : t -> unit
(** May wait. *)

val either : t -> (int -> int Concord.Event.t -> int) -> int -> int
(** [either s choose number] waits for both sides at once, as a waiting task and
    as a release. [choose number release] is a choice of the event of {!t.wait}
    with [number], and of [release]. If the release is performed, it is noted as
    by {!release}, and the result is {!other}.

    - {b Raises} [Invalid_argument] if the operation has no event for both. *)

val number_of_release : int -> int
(** The number that the [n]th release gives, which is not one of the waiting
    tasks. *)

(** {1 By hand} *)

type waiter = { number : int; task : unit Operation_hand.task }

val elsewhere : t -> t
(** The same structure and the same notes, for tasks that another thread drives.
*)

val start :
  ?hooks:Operation_hand.hooks ->
  ?cancelled:[ `Before_block | `At_block ] ->
  ?wait:(int -> int) ->
  t ->
  waiter

val start_many : t -> int -> waiter list
val waits : waiter -> bool
val has_returned : waiter -> bool

val returned : waiter -> unit
(** Fails unless its wait has ended, and raised nothing. *)

val raised : exn -> waiter -> unit
(** Fails unless it has raised this. *)

val left : waiter -> unit
(** Fails unless it has raised something. *)

val cancel : ?by:exn -> waiter -> unit
(** Fails if it cannot be cancelled. *)

val settle : t -> unit
(** Lets all ready tasks continue. If releases wait all the same, they are
    cancelled. *)

val release_by_hand : t -> unit
(** Begins a release. *)

val let_go : ?settled:bool -> t -> int -> unit
(** Lets [n] tasks continue. These are all that wait or, if one continues at a
    time, the first ones. With [~settled:false] all are resumed before the first
    one continues. *)

(** {1 For cases} *)

type case = string * (t -> unit)
(** With its title. *)

val only_if : bool -> string -> unit
(** [only_if condition why] makes the case not offered unless [condition]. *)

val may_be_interrupted : t -> unit
(** Makes the case not offered unless the operation is [interruptible]. *)

val start_some_interrupted : t -> waiter list
(** Starts five tasks. When the second or the fourth is resumed, its resumer
    raises {!Operation_hand.Interrupt}. *)

val raises_interrupt : string -> (unit -> unit) -> unit
(** Fails, with this subject, unless the function raises that. *)

val once : (unit -> unit) -> unit -> unit
(** The function, whose second call does nothing. *)

val release_first : t -> Operation_hand.hooks
(** Begins a release in the first wait, just before [block]. *)

val but_for : int -> 'a list -> 'a list
(** The list without this element. *)

val each_of_three :
  (string -> string, unit, string) format -> (int -> t -> unit) -> case list
(** A case for the first one, one for the second, one for the last. *)
