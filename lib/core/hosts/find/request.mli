(** Asking the calling task's host for something. A request says how that is
    done, by an effect and by each other means. *)

open Concord_suspend

type ('x, 'a) t = {
  by_effect : 'x -> otherwise:('x -> 'a) -> 'a;
      (** If the effect has no handler, it calls [otherwise]. *)
  by_plugin : Plugin.t -> 'x -> 'a;
      (** - {b Raises} {!Plugin.Elsewhere} if the caller is not a task of that
            scheduler. *)
  by_trigger : Domain_local_await.t -> 'x -> 'a;
  by_thread : 'x -> 'a;  (** For a thread without a scheduler. *)
}
(** A request with an argument of type ['x] and an answer of type ['a]. *)

val ask : ('x, 'a) t -> 'x -> 'a
(** [ask request x] finds the innermost scheduler around the calling task, and
    asks it. *)

val unhandled : ('x, 'a) t -> 'x -> 'a
(** {!ask}, if it is known that the effect has no handler. *)

val wait : ('a resumer -> 'a option, 'a) t
(** {!Concord.Tools.Suspend.suspend}. *)

val shield : (unit -> 'a, 'a) t
(** {!Concord.Tasks.protect}. *)

val suspend_or : ('a resumer -> 'a option) -> otherwise:(unit -> 'a) -> 'a
(** [suspend_or block ~otherwise] performs [Suspend block], or calls [otherwise]
    if it has no handler. *)
