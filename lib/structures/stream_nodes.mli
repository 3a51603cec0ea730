(** The queue of a {!Stream}: its nodes, the end at which items are added, and
    the tasks that wait there to take one. {!Stream} has the front, at which
    items are taken and tasks wait to add. *)

type ('a, _) cell =
  | Node : {
      mutable value : 'a;  (** Erased once it is taken. *)
      next : 'a next Atomic.t;
      index : int;
    }
      -> ('a, [> `Node ]) cell
  | End : ('a, [> `End ]) cell
  | Takers : (unit, 'a) Waiters.t -> ('a, [> `Takers ]) cell
  | Sealed : ('a, [> `Sealed ]) cell
  | Severed : ('a, [> `Severed ]) cell
  | Full : {
      first : ('a, [ `Node ]) cell;
      adders : ('a, unit) Waiters.t;
    }
      -> ('a, [> `Full ]) cell
  | Moving : {
      first : ('a, [ `Node ]) cell;
      adders : ('a, unit) Waiters.t;
      ended : bool;
    }
      -> ('a, [> `Moving ]) cell
  | Shut : ('a, [ `Node ]) cell -> ('a, [> `Shut ]) cell

and 'a next =
  | Next :
      ('a, [< `Node | `End | `Takers | `Sealed | `Severed ]) cell
      -> 'a next
[@@unboxed]

type 'a first =
  | First : ('a, [< `Node | `Full | `Moving | `Shut ]) cell -> 'a first
[@@unboxed]

type 'a node = ('a, [ `Node ]) cell

type 'a t = {
  capacity : int;
  first : 'a first Atomic.t;
  last : 'a node Atomic.t;
  seen : int ref;
      (** The index of a node that was the first while no adder waited. An add
          that finds room by it need not read [first], which takers of another
          domain keep writing. Stores may be late, and old ones stay true. *)
}

val create : ?kind:string -> ?name:string -> int -> 'a t
(** - {b Raises} [Invalid_argument] if the capacity is less than 1. *)

val front : 'a first -> 'a node
(** The first node, whatever happens at the front. *)

val index : 'a node -> int
(** Its number: one more than that of the node before it. *)

(** {2 Adding at the end} *)

val add_if :
  ('a t -> int -> bool) ->
  ((unit, 'a) Waiter.t -> ('a, exn) result -> bool) ->
  'a t ->
  'a ->
  bool
(** [add_if room resume t v] adds [v], or gives it to a task that waits to take,
    if there is room: [room t i] is [true] if there is, for the index [i] of the
    last node. [resume] is {!Waiter.resume}, or {!Debt.resume} of a debt.
    @raise Closed.Closed if the queue is sealed. *)

val last_index : 'a t -> int
(** The index of the last node. *)

val seal : 'a t -> unit
(** Ends the queue: tasks that wait to take, and tasks that add later, get
    [Closed]. Idempotent. O(n) for [n] tasks. *)

val seal_shut : 'a t -> unit
(** As {!seal}, also if signal handlers raise. *)

(** {2 Taking from the front} *)

val take_out : 'a t -> 'a node -> 'a node -> 'a
(** [take_out t n after] is the item in [after]. Only the task that moved the
    front on from [n] to [after] calls it. *)

val sever_next : 'a t -> 'a node -> unit
(** Cuts off a node that was the first one, so that it does not keep the later
    ones alive. *)

val collect : 'a node -> 'a list -> 'a node * 'a list
(** The last node, and the items behind the first one, last one first. *)

(** {2 Waiting to take} *)

val enlist_taker : 'a t -> (unit, 'a) Waiter.t -> bool
(** The two parts of {!Concord.Structure_kit.type-operation}. *)

val withdraw_taker : 'a t -> (unit, 'a) Waiter.t -> unit
