(** The tree of tasks and scopes, with the tasks that wait for the end of a
    scope. *)

open Concord.Tools
module Who = Host_kit.Who

type 'p task = {
  home : 'p scope;
  mutable priority : 'p;
  mutable turn : unit -> unit;
      (** The last one for which it became ready. Once that has begun, it does
          nothing. *)
  mutable give_up : unit -> unit;
      (** Ends the last wait, unless it was resumed. *)
  in_block : bool Atomic.t;
      (** [true] if a resumption now only lets it yield. *)
  mutable shields : int;
  mutable cancelled : bool;
  mutable ended : bool;
  mutable scopes : 'p scope list;
      (** The scopes that it waits for, the innermost first. *)
  mutable who : Who.t option;
}
(** A task. Only the thread that runs the loop uses this, except [in_block]. *)

and 'p scope = {
  around : 'p scope option;  (** [None] for the scope of the first task. *)
  owner : 'p task option;  (** Likewise. *)
  depth : int;
      (** The owner's [shields] when it opened the scope. While the owner has
          more, the scope doesn't cancel it. Unless this is 0, the owner's
          cancellation doesn't cancel the scope. *)
  mutable in_body : bool;  (** The owner has not come to its end yet. *)
  mutable members : 'p task list;  (** Some of them may have ended. *)
  mutable listed : int;  (** The length of [members]. *)
  mutable live : int;  (** The number of tasks that have not ended. *)
  mutable on_end : unit Suspend.resumer option;
  mutable stopped : bool;
}
(** A scope, with the tasks that its owner runs beside itself. *)

val create_task : 'p scope -> 'p -> 'p task

val create_scope :
  around:'p scope option -> owner:'p task option -> depth:int -> 'p scope

val innermost : 'p task -> 'p scope
(** The innermost scope that the task is in. *)

val is_within : 'p scope -> 'p scope -> bool
(** [is_within scope other] is [true] if [other] is [scope], or in it. *)

val is_cancelled : 'p task -> bool
(** [true] if the task has to be unwound where it waits. *)

val cancel : 'p scope -> unit
val iter : ('p task -> unit) -> 'p scope -> unit

val add_member : 'p scope -> 'p task -> unit
(** If it raises the exception of a signal handler, it has done nothing. *)

val end_task : 'p task -> unit
(** If this was the last task, the one that waits for the scope continues. If a
    signal handler raises, call it again. *)
