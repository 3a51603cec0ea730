(** One task, or one alternative of a choice, that waits in a structure. *)

type choice = bool Atomic.t
(** What the alternatives of one attempt to choose share: [true] once it is
    decided which one it is. *)

type ('x, 'a) t = {
  arg : 'x;  (** What it waits to give, or with what purpose. *)
  choice : choice;  (** {!no_choice} for a task that waits for this only. *)
  mutable resume : ('a, exn) result -> bool;
      (** Set before the waiter is published by a compare-and-set, and a
          function that refuses once it has left. Who then still reads the old
          one is refused by it, or keeps the waiter in the queue, where it is
          counted and removed later. *)
}

val no_choice : choice

val make : 'x -> ('x, 'a) t
(** Not live yet: [resume] is to be set. *)

val make_alternative : choice -> 'x -> ('x, 'a) t
val is_live : _ t -> bool
val leave : _ t -> unit

val accepts : (_, 'a) t -> ('a, exn) result -> bool
(** Resumes a waiter that was taken out of its queue; [false] if it was
    cancelled, or chose otherwise: it has consumed nothing, and is not live any
    more.

    A signal handler that raises does so at a polling point. So the outcome is
    made before the compare-and-set that takes the waiter out: then there is
    none between that and the resumer's decision, and an exception out of
    [accepts] means that the waiter was resumed. *)

val of_same_choice : _ t -> _ t -> bool
(** Two alternatives of one choice: they cannot meet each other. *)
