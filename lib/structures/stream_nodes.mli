(** The queue of a {!Stream}: its items, and the tasks that wait to take one.
    {!Stream} has the tasks that wait to add. *)

type ('a, _) added =
  | Node : {
      mutable value : 'a;  (** Erased when the node is cut off. *)
      mutable below : ('a, [ `Node ]) added;
          (** Nothing, if the node is cut off. *)
      index : int;
    }
      -> ('a, [> `Node ]) added
  | Takers : {
      top : ('a, [ `Node ]) added;
      takers : (unit, 'a) Waiters.t;
    }
      -> ('a, [> `Takers ]) added
  | Sealed : ('a, [ `Node ]) added -> ('a, [> `Sealed ]) added

type ('a, _) cell =
  | Bare : { taken : int } -> ('a, [> `Bare ]) cell
  | Item : {
      index : int;
      value : 'a;
      rest : ('a, [ `Bare | `Item ]) cell;
    }
      -> ('a, [> `Item ]) cell
  | Full : {
      front : ('a, [ `Bare | `Item ]) cell;
      adders : ('a, unit) Waiters.t;
    }
      -> ('a, [> `Full ]) cell
  | Moving : {
      front : ('a, [ `Bare | `Item ]) cell;
      adders : ('a, unit) Waiters.t;
      ended : bool;
    }
      -> ('a, [> `Moving ]) cell
  | Shut : ('a, [ `Bare | `Item ]) cell -> ('a, [> `Shut ]) cell

type 'a last = Last : ('a, [< `Node | `Takers | `Sealed ]) added -> 'a last
[@@unboxed]

type 'a first =
  | First : ('a, [< `Bare | `Item | `Full | `Moving | `Shut ]) cell -> 'a first
[@@unboxed]

type 'a node = ('a, [ `Node ]) added
(** Of the stack: what was added. *)

type 'a front = ('a, [ `Bare | `Item ]) cell
(** Of the list from which items are taken. *)

type 'a t = {
  capacity : int;
  first : 'a first Atomic.t;
      (** Padded: takers write it while adders write [last]. *)
  last : 'a last Atomic.t;
  seen : int ref;
      (** How many items were taken once while no adder waited. An add that
          finds room by it need not read [first], which takers of another domain
          keep writing. Stores may be late, and old ones stay true. *)
}

val create : ?kind:string -> ?name:string -> int -> 'a t
(** - {b Raises} [Invalid_argument] if the capacity is less than 1. *)

val front : 'a first -> 'a front
(** The front, whatever else happens there. *)

val taken : 'a front -> int
(** How many items were taken: the number of the last one. *)

val top : 'a last -> 'a node
(** The item that was added last, whether it was taken or not. *)

val index : 'a node -> int
(** Its number. *)

val last_index : 'a t -> int
(** That of the item that was added last. *)

(** {2 Adding} *)

val add_if :
  ('a t -> int -> bool) ->
  ((unit, 'a) Waiter.t -> ('a, exn) result -> bool) ->
  'a t ->
  'a ->
  bool
(** [add_if room resume t v] adds [v], or gives it to a task that waits to take,
    if there is room: [room t i] is [true] if there is, for the number [i] of
    the last item. [resume] is {!Waiter.resume}, or {!Debt.resume} of a debt.
    @raise Closed.Closed if the queue is sealed. *)

val seal : 'a t -> unit
(** Ends the queue: tasks that wait to take, and tasks that add later, get
    [Closed]. Idempotent. O(n) for [n] tasks. *)

val seal_shut : 'a t -> unit
(** As {!seal}, also if signal handlers raise. *)

(** {2 Taking}

    Whoever takes with what these functions return changes [first] by a
    compare-and-set, from what it was before [last] was read: only if that
    succeeds is the result right. *)

val added : 'a node -> int -> 'a front
(** [added top taken]: the items above the number [taken] up to this one, the
    first one first. *)

val values : 'a front -> 'a node -> 'a list
(** The items of the front, and those behind it up to this one. *)

val is_cut_off : 'a node -> bool
(** Is this field [below] that of a node that is cut off? *)

val cut_off : 'a node -> unit
(** Erases the item, and those below it. For the task that has taken them to the
    front, after that. *)

(** {2 Waiting to take} *)

val enlist_taker : 'a t -> (unit, 'a) Waiter.t -> bool
(** The two parts of {!Concord.Structure_kit.type-operation}. *)

val withdraw_taker : 'a t -> (unit, 'a) Waiter.t -> unit
