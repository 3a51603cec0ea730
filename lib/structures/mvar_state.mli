(** The states of a {!Mvar}, and what its holder owes. *)

type purpose = Take | Read | Hold

type 'a state =
  | Empty of (purpose, 'a) Waiters.t
  | Full of 'a * ('a, unit) Waiters.t
  | Held of (purpose, 'a) Waiters.t * ('a, unit) Waiters.t
      (** One task has the box in its hands: the holder. *)

type 'a t = 'a state Atomic.t

val empty : 'a state
val full : 'a -> 'a state
val create_empty : ?name:string -> unit -> 'a t
val create : ?name:string -> 'a -> 'a t

(** {2 For the holder} *)

type 'a duty =
  | Give of 'a  (** To put the value into the box. *)
  | Vacate  (** There is nothing to put into it. *)
  | Nothing  (** The box is not held any more, or another task is the holder. *)

val settle : 'a t -> 'a duty Debt.t -> unit
(** For {!Debt.pay}. *)

val give : 'a t -> 'a -> unit
(** Puts the value into the box, whatever a signal handler raises meanwhile.

    - {b Raises} that, or what a resumer raised, after that. *)
