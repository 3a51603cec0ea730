(** What the library asks of a task's host, and how it is done by other means
    than an effect. *)

open Concord_suspend

type host = Suspends | Parks

type _ t =
  | Wait : ('a resumer -> 'a option) -> 'a t
  | Shield : (unit -> 'a) -> 'a t
  | Reach : (unit -> unit) ref -> host t
      (** To be called when the effect of the suspension is on its way. *)
  | Question : 'a Effect.t * 'a -> 'a option t
      (** [None] if it may not be performed, or that is not known. *)
  | Fork : (unit -> unit) ref -> scopes option t
  | Turn : unit t  (** Others go on before the calling task does. *)
  | Who : Who.t t

val at_once : (unit -> unit) ref -> host resumer -> host option
(** What [Reach] suspends with. *)

val resume_at_once : unit -> unit resumer -> unit option
(** What [Turn] suspends with. *)

val unhandled : 'a t -> 'a
(** Nobody has handled the effect of the request, or would. *)

(** {2 Where a scheduler may take every effect} *)

val by_first_of : Plugin.t list -> 'a t -> otherwise:('a t -> 'a) -> 'a
(** By the first of these plug-ins that finds its scheduler around the task. *)

val by_trigger : Domain_local_await.t -> 'a t -> 'a
