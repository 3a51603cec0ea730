(** A blocking operation of a structure, and waiting for it.

    {!Structure_kit} is the public interface of this module. It describes the
    types, {!attempt}, {!perform} (which is called [wait] there), {!block} and
    {!withdraw}. *)

(** How an operation spins if it needs more than a policy of {!type-spin}. *)
type ('t, 'x, 'a) own =
  | Own : {
      pace : Spin.pace;
      prepare : 'x -> 'y;  (** Called once, before the attempts. *)
      attempt : 't -> 'y -> unit -> 'a option;
          (** Unbroken after its last step, as {!Spin.attempt} says. *)
      in_choice : bool;  (** In a choice, the policy is [Before] or [Never]. *)
    }
      -> ('t, 'x, 'a) own

type ('t, 'x, 'a) spin =
  | Never
  | Before
  | Enlisted
  | Enlisted_or_before
  | Indifferent
  | In_its_own_way of ('t, 'x, 'a) own

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
  mark : string;
      (** All get it from {!default}. By its address, [concord-trace --waits]
          recognises operations in the memory of a process. *)
  name : string;
  spin : ('t, 'x, 'a) spin;
  holders : 't -> Holder.t list;
  state : 't -> string;
  from_outside : bool;
  undo : 't -> 'x -> 'a -> bool;  (** See {!Structure_kit.operation}. *)
  how : ('t, 'x, 'a) how;
}

val default : ('t, 'x, 'a) t

val undo_nothing : 't -> 'x -> 'a -> bool
(** For an operation that only waits or reads, or whose item stays. *)

val attempt : ('t, 'x, 'a) t -> 't -> 'x -> 'a option

val perform : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** [perform operation t arg] is {!attempt}, and then {!wait} if the attempt was
    in vain. *)

val wait : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** [wait operation t arg] suspends, or spins and then suspends. It is only for
    callers whose attempt has just failed, and for operations that always wait.

    If the operation could be performed, a cancelled task would raise here, and
    other tasks might run. *)

val block :
  ('t, 'x, 'a) t ->
  't ->
  ('x, 'a) Waiter.t ->
  (('a, exn) result -> bool) ->
  'a option

val withdraw : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> unit

val enlist : ('t, 'x, 'a) t -> 't -> ('x, 'a) Waiter.t -> bool
(** [enlist operation t waiter] puts the waiter into the queue and returns
    [true]. Its resumer has to be set. If the operation can be attempted, it
    does nothing and returns [false]. If the only partners of the waiter are
    alternatives of its own choice, it has to wait too. *)

val suspend : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** [suspend operation t arg] does the same as {!wait}, without spinning. *)

exception Nudged
(** If a waiter is resumed with this exception, it is out of its queue and was
    given nothing, so its task tries again. *)

(** {2 For choices, conditions and diagnosis} *)

val may_spin : unit -> bool
(** [may_spin ()] is [true] if the caller's task should spin. Mostly it is
    [false], and then it costs little. *)

val spin :
  Spin.pace -> ('x -> 'y -> 'z -> 'a option) -> 'x -> 'y -> 'z -> 'a option
(** [spin pace attempt] is {!Spin.attempt}. It uses the experience of the tasks
    of this domain. *)

val suspend_by : Reach.noted -> ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** {!suspend}, in a noted way. *)

val suspend_by_effect : ('t, 'x, 'a) t -> 't -> 'x -> 'a
(** {!suspend}, by performing the effect.

    [concord-trace --waits] reads the stack frames of these two functions, while
    their tasks wait. There it finds the operation, the structure and the
    waiter, because the handlers of exceptions need them. *)

val leave : 's Atomic.t -> (_, _) Waiter.t -> ('s -> 's) -> unit
(** [leave word waiter f] is [Atomically.update word f]. Afterwards, the waiter
    is withdrawn and isn't counted again. It is for the [withdraw] of an
    operation written by hand. *)

val target : ('t, 'x, 'a) t -> 't -> Target.t
(** [target operation t] is the target for {!Reach.suspend_slowly}. *)
