(** The plug-ins of the program. {!Concord.Suspend.Host} says what they are. *)

exception Elsewhere

type scope = { fork : (unit -> unit) -> unit; cancel : unit -> unit }
type scopes = { scope : 'a. (scope -> 'a) -> 'a }

type t = {
  name : string;
  sample : Domain_local_await.t option;
  takes_every_effect : bool;
  suspend : 'a. ((('a, exn) result -> bool) -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
  scopes : scopes option;
}

val add : t -> unit

val all : unit -> t array
(** In the order in which they were added. A plug-in keeps its index. *)

val some_takes_every_effect : unit -> bool
(** {b Cost}: one read. *)

val takers : unit -> t list
(** Those that take every effect. *)

val unregistered : unit -> t list
(** Those of the others that do not register themselves. *)

val recognise : Domain_local_await.t -> int option
(** Of which plug-in's scheduler the trigger is, which the calling thread was
    given. *)

(** {2 Loops of schedulers that do not register themselves} *)

val of_loop : Domain_local_await.t -> Domain_local_await.t
(** A trigger of such a loop does the same as this one. *)

val running : t -> (unit -> 'a) -> 'a
(** [running plugin loop] is [loop ()], while the calling thread is registered
    with triggers made by {!of_loop}. *)

val may_be_taken : unit -> bool
(** May an effect that is performed on the calling domain arrive at a scheduler
    that takes every effect? Such a loop runs here, or the domain was spawned
    from one. *)
