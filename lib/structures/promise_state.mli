(** What a promise is, and waiting for it: the part of {!Promise} that needs no
    callbacks. {!Promise} documents what has the same name there. *)

type 'a state =
  | Waiting of (unit, unit) Waiters.t
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace

type 'a t = 'a state Atomic.t

exception Already_filled

val unresolved : 'a state
(** Nobody waits. *)

val create : ?name:string -> unit -> 'a t
val of_value : 'a -> 'a t

(** {2 Resolving} *)

val settle : 'a t -> 'a state -> int
(** Installs a terminal state. How many were resumed ({!Waiters.resumed}), or -1
    if [t] was resolved before. *)

val fill : 'a t -> 'a -> unit
val try_fill : 'a t -> 'a -> bool
val fail : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> unit
val try_fail : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> bool

val resolve :
  ?backtrace:Printexc.raw_backtrace -> 'a t -> ('a, exn) result -> unit

val try_resolve :
  ?backtrace:Printexc.raw_backtrace -> 'a t -> ('a, exn) result -> bool

val fail_waiters : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> int

(** {2 Waiting} *)

val enlist : 'a t -> (unit, unit) Waiter.t -> bool
(** [false] if [t] is resolved; then nothing has happened. *)

val awaiting : ('a t, unit, unit) Operation.t
val await : 'a t -> 'a
val await_evt : 'a t -> 'a Event.t
val await_result : 'a t -> ('a, exn) result
val await_result_evt : 'a t -> ('a, exn) result Event.t

(** {2 Looking} *)

val peek : 'a t -> ('a, exn) result option
val is_resolved : 'a t -> bool

val get_resolved : 'a t -> 'a
(** The value of a promise that is resolved.

    - {b Raises} [e] if it failed with [e]. *)

val waiters : 'a t -> int
