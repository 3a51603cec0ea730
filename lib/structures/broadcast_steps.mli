(** What the operations of {!Broadcast} do, as steps. Each says of which word it
    is a step. *)

open Broadcast_state

(** {2 Of a subscription} *)

val receive_step : 'a subscription -> 'a state -> ('a state, 'a) Step.t
(** It is [Wait] if values were missed. *)

val lag_step : unit -> 'a state -> ('a state, exn) Step.t
(** By a task that finds no value: the exception, if values were missed. *)

val drain_step : unit -> 'a state -> ('a state, 'a list) Step.t

val enlist_step :
  ('a subscription, 'a) Waiter.t -> 'a state -> ('a state, bool) Step.t

val withdraw_step :
  ('a subscription, 'a) Waiter.t -> 'a state -> ('a state, unit) Step.t

val unsubscribe_step : unit -> 'a state -> ('a state, unit) Step.t

val nowhere : unit -> 'a link
(** The position of a subscription that has ended, or not begun yet. *)

(** {2 Of the link at the end, where no sender waits} *)

val uncounted : 'a next
(** The end of a broadcast that has no limit. *)

type ('a, 'r) next := ('a next, 'r) Step.next

val extended : unit -> ('a, bool) next

val extend_step :
  (int -> 'a Broadcast_state.next * (unit -> ('a, bool) next)) ->
  'a Broadcast_state.next ->
  ('a Broadcast_state.next, bool) Step.t
(** [extend_step next]: if the end has this index, what [next index] is comes
    there, and then follows what it says. [false] if the broadcast is closed.
    [Wait] if the end is further on. *)

val numbered :
  'a dropping ->
  'a ->
  int ->
  'a Broadcast_state.next * (unit -> ('a, bool) next)
(** A value of a broadcast that drops, for {!extend_step}. *)

(** {2 Of [last], where senders wait} *)

val held : int -> 'a link Atomic.t -> 'a Broadcast_state.next
(** The first end of a broadcast with so many places. *)

val counted : 'a -> 'a held -> 'a Broadcast_state.next * 'a link
(** A value that takes a place, and the end behind it. *)

type sent = Sent | Full | Over

val put_step : 'a -> 'a link -> ('a link, sent) Step.t
val seal_step : unit -> 'a link -> ('a link, unit) Step.t
val join_step : 'a subscription -> 'a link -> ('a link, unit) Step.t

val enlist_sender_step :
  ('a, unit) Waiter.t -> 'a link -> ('a link, bool) Step.t

val withdraw_sender_step :
  ('a, unit) Waiter.t -> 'a link -> ('a link, unit) Step.t
