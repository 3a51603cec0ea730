(** A structure, those who wait in it, and what has come of them. *)

open Operation_signature

(** {1 What is tested} *)

type way = {
  title : string;  (** [""]: the operation itself. *)
  through : (int -> int) -> (int -> int Concord.Event.t) option -> int -> int;
      (** How to wait: the operation, or its event. *)
}

val direct : way

val ways : (module OPERATION) -> way list
(** The operation; if it has an event, that too, and a choice of it. *)

type t = {
  service : service;
  keeps : bool;
  in_order : bool;
  interruptible : bool;
  most : int;  (** So many may wait. *)
  hand : Operation_hand.t;
  wait : int -> int;
  event : (int -> int Concord.Event.t) option;
  release_event : (int -> int Concord.Event.t) option;
  close : (exn * (unit -> unit)) option;
  fail : (exn -> Printexc.raw_backtrace -> unit) option;
  count : (unit -> int) option;
  release_with : int -> int;
  waiters : int Atomic.t;  (** So many have come. *)
  releases : int Atomic.t;  (** So many were begun. *)
  released : int Atomic.t;  (** So many have let somebody go on, or will. *)
  served : int list Atomic.t;  (** Who went on, the last one first. *)
  brought : int list Atomic.t;  (** The numbers that went in. *)
  got : int list Atomic.t;  (** Those that came out. *)
  mutable pending : unit Operation_hand.task list;  (** Releases. *)
  fresh : unit -> t;  (** The same once more, as it was at first. *)
}

val create : ?most:int -> (module OPERATION) -> way -> t
(** A new structure. [most] is 10. *)

val one_by_one : t -> bool
(** A release lets one go on. *)

(** {1 On any host} *)

val wait : ?wait:(int -> int) -> t -> unit
(** Waits, with a number of its own, and notes what it gets. *)

val other : int
(** What [wait] gives if something else was chosen: nothing is noted. *)

val release : t -> unit
(** May wait. *)

val either : t -> (int -> int Concord.Event.t -> int) -> int -> int
(** [either s choose number] waits for both sides at once, as one of those who
    wait and as a release: [choose number release] is a choice of the event of
    {!t.wait} with [number], and of [release]. If it is the release that is
    performed, it is noted as by {!release}, and the result is {!other}.
    - {b Raises} [Invalid_argument] if the operation has no event for both. *)

val number_of_release : int -> int
(** The number that the [n]th release gives; not one of those who wait. *)

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
(** Lets all go on that are ready. Releases that wait all the same are
    cancelled. *)

val release_by_hand : t -> unit
(** Begins a release. *)

val let_go : ?settled:bool -> t -> int -> unit
(** Lets [n] go on, who are all that wait or, if one goes on at a time, the
    first ones; with [~settled:false] all are resumed before the first one goes
    on. *)

(** {1 For cases} *)

type case = string * (t -> unit)
(** With its title. *)

val only_if : bool -> string -> unit
(** [only_if condition why]: unless [condition], the case is not offered. *)

val once : (unit -> unit) -> unit -> unit
(** The function, whose second call does nothing. *)

val release_first : t -> Operation_hand.hooks
(** Begins a release in the first wait, just before [block]. *)

val but_for : int -> 'a list -> 'a list
(** The list without this element. *)

val each_of_three :
  (string -> string, unit, string) format -> (int -> t -> unit) -> case list
(** A case for the first one, one for the second, one for the last. *)
