(** The library's requests to a task's host, and how each is done by other means
    than an effect. *)

open Concord_suspend

type host = Suspends | Parks

type 'a seek = {
  by_effect : otherwise:(unit -> 'a) -> 'a;
      (** If the effect of the question has no handler, it calls [otherwise]. *)
  by_plugin : Plugin.t -> 'a;
      (** - {b Raises} {!Plugin.Elsewhere} if the caller is not a task of that
            scheduler. *)
  by_trigger : Domain_local_await.t -> 'a;
  by_thread : unit -> 'a;
}
(** How the host is found and asked something. *)

type _ t =
  | Wait : ('a resumer -> 'a option) -> 'a t
  | Shield : (unit -> 'a) -> 'a t
  | Reach : (unit -> unit) ref -> host t
      (** Called when the effect of the suspension is on its way. *)
  | Question : 'a Effect.t * 'a -> 'a option t
      (** [None] if it may not be performed, or that is not known. *)
  | Fork : (unit -> unit) ref -> scopes option t
  | Turn : (unit -> unit) -> unit t
      (** Other tasks run before the calling task continues. A thread without a
          scheduler calls the function instead. *)
  | Seek : 'a seek -> 'a t

val at_once : (unit -> unit) ref -> host resumer -> host option
(** The block with which [Reach] suspends. *)

val resume_at_once : unit -> unit resumer -> unit option
(** The block with which [Turn] suspends. *)

val unhandled : 'a t -> 'a
(** Does the request if its effect has no handler. *)

(** {2 Where a scheduler may take every effect} *)

val by_first_of : Plugin.t list -> 'a t -> otherwise:('a t -> 'a) -> 'a
(** Asks the first of these plug-ins that finds its scheduler around the task.
*)

val by_trigger : Domain_local_await.t -> 'a t -> 'a
