(** The operations of {!Broadcast}, as steps. The types say of which word each
    of them is a step. *)

open Broadcast_state

(** {2 Steps of a subscription} *)

val receive_step : 'a subscription -> 'a state -> ('a state, 'a) Step.t
(** It returns [Wait] if values were missed. *)

val lag_step : unit -> 'a state -> ('a state, exn) Step.t
(** For a task without a value. Its result is the exception, if values were
    missed. *)

val drain_step : unit -> 'a state -> ('a state, 'a list) Step.t

val enlist_step :
  ('a subscription, 'a) Waiter.t -> 'a state -> ('a state, bool) Step.t

val take_back_step : 'a -> 'a state -> ('a state, unit) Step.t

val withdraw_step :
  ('a subscription, 'a) Waiter.t -> 'a state -> ('a state, unit) Step.t

val unsubscribe_step : unit -> 'a state -> ('a state, unit) Step.t

val nowhere : unit -> 'a link
(** The position of a subscription that has ended, or hasn't begun yet. *)

(** {2 Steps of the link at the end, where no sender waits} *)

val uncounted : 'a next
(** The end of a broadcast without a limit. *)

type ('a, 'r) next := ('a next, 'r) Step.next

val extended : unit -> ('a, bool) next

val extend_step :
  (int -> 'a Broadcast_state.next * (unit -> ('a, bool) next)) ->
  'a Broadcast_state.next ->
  ('a Broadcast_state.next, bool) Step.t
(** [extend_step next] replaces the end, if its index is [i], by the first
    component of [next i]. Then the second component follows. The result is
    [false] if the broadcast is closed. The step returns [Wait] if the end is
    further on. *)

val numbered :
  'a dropping ->
  'a ->
  int ->
  'a Broadcast_state.next * (unit -> ('a, bool) next)
(** [numbered dropping v] is an argument of {!extend_step}, for a value of a
    dropping broadcast. *)

(** {2 Steps of [last], where senders wait} *)

val held : int -> 'a link Atomic.t -> 'a Broadcast_state.next
(** [held n last] is the first end of a broadcast with [n] places. *)

val counted : 'a -> 'a held -> 'a Broadcast_state.next * 'a link
(** [counted v held] is a value with a place, and the end behind it. *)

type sent = Sent | Full | Over

val put_step : 'a -> 'a link -> ('a link, sent) Step.t
val seal_step : unit -> 'a link -> ('a link, unit) Step.t

val give_step : unit -> 'a link -> ('a link, unit) Step.t
(** By the last subscription that has passed a value. One place more is free. *)

val join_step : 'a subscription -> 'a link -> ('a link, unit) Step.t

val enlist_sender_step :
  ('a, unit) Waiter.t -> 'a link -> ('a link, bool) Step.t

val withdraw_sender_step :
  ('a, unit) Waiter.t -> 'a link -> ('a link, unit) Step.t
