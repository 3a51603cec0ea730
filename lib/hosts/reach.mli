(** How the library reaches the host of the calling task, whether that handles
    [Suspend], is registered with [Domain_local_await], has a plug-in, or is no
    scheduler at all. *)

open Concord_suspend

val suspend : ('a resumer -> 'a option) -> 'a
(** {!Concord.Suspend.suspend}. *)

val suspend_loop : (unit resumer -> unit option) -> unit
(** As {!suspend}, for a loop that sleeps: see {!Leaks.of_loop}. *)

val protect : (unit -> 'a) -> 'a
(** {!Concord.Suspend.protect}. *)

val yield : unit -> unit
(** {!Concord.yield}. *)

val scopes : unit -> scopes option
(** {!Concord.Host_kit.scopes}. *)

val question : 'a Effect.t -> otherwise:'a -> 'a option
(** {!Concord.Host_kit.ask}. *)

type _ Effect.t +=
  | Refusing : unit Effect.t  (** A question of {!refuse}. *)
  | Refused_effects : exn option Effect.t
        (** A question of {!misused}. Is the caller a function in which no
            effect is handled, and what is then to be raised? *)

val refuse : exn -> 'a
(** {!Concord.Host_kit.refuse}. It asks {!Refusing} of whatever lies between the
    caller and its host. *)

val is_refusal : exn -> bool
(** Was the exception given to {!refuse} last? By address. *)

val misused : string -> 'a
(** [misused message], called where the effect of an operation was unhandled:
    raises what a function around the caller that refuses all effects says of
    itself, else [Invalid_argument message]. *)

(** {2 What lies between a task and its host} *)

type host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is none: the system thread would be parked. *)

val probe : Probe.passing -> host
(** {!Concord.Host_kit.probe}. *)
