(** The bindings of the calling task, wherever its host keeps them.

    A host keeps all bindings of a task in one slot of its own, for example
    under one key of Eio. If the host has none, they are kept by a handler on
    the task's own stack, which follows the task. *)

exception Elsewhere
(** {!Plugin.Elsewhere}. *)

type bindings = Bindings.t

type slot = {
  read : unit -> Bindings.t option;
      (** The calling task's bindings. It is [None] if the task has never had
          any.

          - {b Raises} {!Elsewhere} if the caller isn't such a task. *)
  within : 'a. Bindings.t -> (unit -> 'a) -> 'a;
      (** Calls the function with these bindings, also in the tasks that the
          function forks. *)
  kept : (unit -> Bindings.t option) option;
      (** It is [read], but never raises, if the slot belongs to a {!Context}.
          Then a small scheduler inside one of the tasks keeps the slot for each
          of its own tasks. *)
}

val add : ?plugin:Plugin.t -> slot -> unit
(** [add ~plugin slot] adds the slot of that plug-in's tasks. Without [plugin],
    it is asked if the innermost scheduler has no plug-in. *)

(** {2 Hosts that answer an effect} *)

type place
(** Where a task has its bindings. *)

type _ Effect.t +=
  | Where : place Effect.t
        (** A question ({!Concord_suspend.extension-Ask}) for hosts that have a
            slot and answer questions. *)

val nowhere : place

val in_slot : slot -> place
(** The answer of the task's host. *)

val around : Bindings.t -> place
(** The answer of a handler or a host around the task's own host. A host whose
    task has no bindings yet begins with these. *)

val kept : unit -> place option
(** For a small scheduler, before it runs: the answer for all its tasks, if the
    caller's slot is one of a {!Context}. *)

(** {2 For users of this module} *)

val create : unit -> 'a Bindings.key
val get : 'a Bindings.key -> 'a option
val snapshot : unit -> Bindings.t
val with_snapshot : Bindings.t -> (unit -> 'a) -> 'a

(** {2 Tasks that start tasks}

    This costs one read as long as no key was created. *)

val carry : ('a -> 'b) -> 'a -> 'b
(** [carry f] is [f] with the caller's bindings, for another task. *)
