(** Schedulers that take every effect.

    Miou, for example, ends the program if a task performs an effect that Miou
    does not know. So no effect of the library may reach such a {e greedy}
    scheduler. Wherever one could be the innermost scheduler, or the one around
    it, the library asks plug-ins and triggers instead of performing effects.
    This module has the code for that. A program without such a scheduler pays
    one read, {!exist}. *)

val exist : unit -> bool
(** [true] if there is a plug-in for such a scheduler. {b Cost}: one read. *)

val may_be_around : unit -> bool
(** [true] if an effect that is performed on the calling domain may reach one,
    because a loop runs here, or the domain was spawned from one. *)

val running : Plugin.t -> (unit -> 'a) -> 'a
(** [running plugin loop] is [loop ()], in which that scheduler, if it is
    greedy, is known to run on the calling domain. *)

val outside : (unit -> 'a option) -> 'a option
(** [outside ask] is [ask ()], which performs an effect outside of the host. It
    is [None] if a greedy scheduler may be there. *)

(** {2 Finding a way} *)

type way =
  | Perform  (** No greedy scheduler gets the effect. *)
  | Plugins of Plugin.t list
      (** Ask these, in this order, and perform if all are elsewhere. *)
  | Trigger of Domain_local_await.t  (** Wait by this trigger. *)

val way : unit -> way
(** [way ()] is how to ask the innermost scheduler. Call it if such plug-ins
    {!exist}.

    - {b Raises} [e] if the innermost scheduler's [prepare_for_await] does. *)

val handling : Innermost.flag -> (unit -> 'a) -> 'a
(** [handling flag loop] is [loop ()], for a scheduler that handles the effect
    and has that flag. While the flag is up, effects are performed in its tasks.
*)

(** {2 Asking without an effect} *)

type innermost =
  | Handles  (** It handles the effect. *)
  | Has_plugin of Plugin.t
  | Has_trigger of Domain_local_await.t
  | Unregistered

val innermost : unit -> innermost
(** The scheduler around the caller. *)

val may_take_questions : unit -> bool
(** [true] if a question that the caller performs could reach a greedy
    scheduler. *)
