(** The links and the subscriptions of a {!Broadcast}, and what a task owes that
    has changed one of them. *)

type 'a link = 'a next Atomic.t

and 'a next =
  | End
  | Waited of ('a subscription, unit) Waiters.t
  | Node of { value : 'a; link : 'a link }
  | Sealed

and 'a state =
  | Reading of 'a link
  | Waiting of {
      link : 'a link;
      waiters : (unit, 'a) Waiters.t;
      notice : ('a subscription, unit) Waiter.t;
    }
  | Serving of 'a link * (unit, 'a) Waiters.t

and 'a subscription = 'a state Atomic.t

val has_more : 'a link -> bool
(** Is there a value, or the end? *)

val notice : 'a subscription -> ('a subscription, unit) Waiter.t
(** A new one, for {!Announce}. *)

type 'a due =
  | Serve_all of ('a subscription, unit) Waiters.t
  | Serve of 'a subscription  (** By each task that may know first of more. *)
  | Hand_out of 'a subscription  (** By the task that serves. *)
  | Move_on of 'a subscription * 'a link  (** Likewise. *)
  | Announce of ('a subscription, unit) Waiter.t * 'a link

val settle : unit -> 'a due list Debt.t -> unit
(** For {!Debt.pay}. The latest due comes first. *)

val announce : ('a subscription, unit) Waiter.t -> 'a link -> unit
(** The same where only this is owed, right after the step. *)
