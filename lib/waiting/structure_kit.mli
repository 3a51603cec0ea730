(** For whoever writes a structure: what all of the library's are made of.

    A structure is one [Atomic] with an immutable state, in which tasks wait in
    a {{!Waiters}queue}. Each blocking operation is given as three functions,
    and has from these direct style, cancellation that loses nothing, choice,
    timeouts ({!Concord.Event.make}) and monadic style ({!Concord.Monadic}). The
    manual is the page "Writing a structure". *)

(** {1 Who waits} *)

module Waiter = Waiter
module Waiters = Waiters

type ('x, 'a) waiter = ('x, 'a) Waiter.t = private {
  arg : 'x;  (** What it waits with: a value to give, a purpose, [()]. *)
  choice : Waiter.choice;
      (** What the alternatives of one choice have in common. *)
  mutable resumer : ('a, exn) result -> bool;
      (** What {!Waiter.resume} calls. [false]: the waiter was cancelled or
          withdrawn, or a choice took another alternative; it has consumed
          nothing (S2). *)
}
(** One wait in a structure. *)

(** {1 Operations} *)

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  attempt : 't -> 'x -> 'a option;
      (** Performs the operation if it need not wait; else does nothing and is
          [None]. May raise instead. *)
  enlist : 't -> ('x, 'a) waiter -> bool;
      (** Puts the waiter into the structure's queue and is [true]; or does
          nothing and is [false], if [attempt] would not be [None]. Does not
          raise. *)
  withdraw : 't -> ('x, 'a) waiter -> unit;
      (** The waiter was enlisted and does not wait any more. The structure may
          have taken it out of the queue already. *)
}
(** A blocking operation on a structure of type ['t]. None of the three suspends
    or performs an effect. *)

val wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** [wait operation t arg] suspends the task as a waiter of [t], unless the
    operation can be performed now; it keeps S1 and S3. *)

val block :
  ('t, 'x, 'a) operation ->
  't ->
  ('x, 'a) waiter ->
  (('a, exn) result -> bool) ->
  'a option
(** [block operation t waiter] is what {!wait} suspends with; S1. The waiter is
    a fresh one. *)

val withdraw : ('t, 'x, 'a) operation -> 't -> ('x, 'a) waiter -> unit
(** Withdraws a waiter that may still wait; else does nothing. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] of [t] by [f s], in one step, unless
    [f s] is [s] itself. [f] is called again each time that somebody else was
    faster. If it raises, [t] stays as it is. Most [withdraw]s are one update:
    the queue is replaced by what {!Waiters.count_gone} makes of it. *)
