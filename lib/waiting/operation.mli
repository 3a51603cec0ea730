(** A blocking operation of a structure: the three things that it consists of,
    and waiting for it. *)

type ('t, 'x, 'a) t = {
  attempt : 't -> 'x -> 'a option;
      (** Performs the operation if it need not wait; else does nothing and is
          [None]. May raise instead. *)
  enlist : 't -> ('x, 'a) Waiter.t -> bool;
      (** Puts the waiter into the structure's queue and is [true]; or does
          nothing and is [false], if [attempt] would not be [None]. Does not
          raise. *)
  withdraw : 't -> ('x, 'a) Waiter.t -> unit;
      (** The waiter was enlisted and does not wait any more. The structure may
          have taken it out of the queue already. *)
}
(** A blocking operation on a structure of type ['t]. None of the three suspends
    or performs an effect. *)

val wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** [wait operation t arg] suspends the task as a waiter of [t], unless the
    operation can be performed now; it keeps S1 and S3. *)

val block :
  ('t, 'x, 'a) t ->
  't ->
  ('x, 'a) Waiter.t ->
  (('a, exn) result -> bool) ->
  'a option
(** [block operation t waiter] is what {!wait} suspends with; S1. The waiter is
    a fresh one. *)

val withdraw : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> unit
(** Withdraws a waiter that may still wait; else does nothing. *)
