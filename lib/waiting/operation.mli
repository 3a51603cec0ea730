(** A blocking operation of a structure, and waiting for it.

    {!Structure_kit} is the public face of this module, and says what the types
    and {!attempt}, {!wait}, {!block} and {!withdraw} mean. *)

type spin = Never | Before | Enlisted | Enlisted_or_before | Indifferent

type ('t, 'x, 'a) how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
      queue : ('s, 'x, 'a) Step.queue;
      left : ('s, unit) Step.next;
    }
      -> ('t, 'x, 'a) how
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
      enlist : 't -> ('x, 'a) Waiter.t -> bool;
      withdraw : 't -> ('x, 'a) Waiter.t -> unit;
    }

type ('t, 'x, 'a) t = {
  name : string;
  spin : spin;
  holders : 't -> Waits.holder list;
  state : 't -> string;
  from_outside : bool;
  how : ('t, 'x, 'a) how;
}

val default : ('t, 'x, 'a) t
val attempt : ('t, 'x, 'a) t -> 't -> 'x -> 'a option
val wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a

val block :
  ('t, 'x, 'a) t ->
  't ->
  ('x, 'a) Waiter.t ->
  (('a, exn) result -> bool) ->
  'a option

val withdraw : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> unit

val enlist : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> bool
(** Puts the waiter, whose resumer is set, into the queue; or is [false], and
    does nothing, if the operation can be attempted. A waiter whose only
    partners are alternatives of its own choice has to wait too. *)

(** {2 Parts of it, for structures that spin in their own way} *)

val suspend : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** {!wait}, without spinning. *)

exception Nudged
(** A waiter that is resumed with this is out of its queue, and was given
    nothing: its task tries again. *)

val may_spin : unit -> bool
(** Whether the caller's task should spin: mostly not, which costs little. *)

val spin :
  Spin.pace -> ('x -> 'y -> 'z -> 'a option) -> 'x -> 'y -> 'z -> 'a option
(** {!Spin.attempt}, by what the tasks of this domain have learned. *)

(** {2 For choices, and for diagnosis} *)

val leave : 's Atomic.t -> (_, _) Waiter.t -> ('s -> 's) -> unit
(** For the [withdraw] of an operation by hand: [Atomically.update], after which
    the waiter is withdrawn, and not counted again. *)

val target : ('t, 'x, 'a) t -> 't -> Waits.target
(** For {!Reach.suspend_slowly}. *)

val refused : string option Atomic.t
(** The name of the operation that a host refused last ({!Reach.refuse}), in any
    thread: for messages. *)
