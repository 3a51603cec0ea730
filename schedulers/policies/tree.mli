(** Which tasks are there, and who waits for the end of which? *)

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
  in_block : bool Atomic.t;  (** What resumes it now only lets it yield. *)
  mutable shields : int;
  mutable cancelled : bool;
  mutable ended : bool;
  mutable scopes : 'p scope list;
      (** That it waits for, the innermost first. *)
  mutable who : Who.t option;
}
(** A task. Only the thread that runs the loop uses this, but for [in_block]. *)

and 'p scope = {
  around : 'p scope option;  (** [None] for that of the first task. *)
  owner : 'p task option;  (** Likewise. *)
  is_shielded : bool;  (** The owner's cancellation leaves it alone. *)
  mutable in_body : bool;  (** The owner has not come to its end yet. *)
  mutable members : 'p task list;  (** Some of them may have ended. *)
  mutable listed : int;  (** How many are in [members]. *)
  mutable live : int;  (** How many have not ended. *)
  mutable on_end : unit Suspend.resumer option;
  mutable stopped : bool;
}
(** A scope: what its owner, a task, runs beside itself. *)

val create_task : 'p scope -> 'p -> 'p task

val create_scope :
  around:'p scope option -> owner:'p task option -> is_shielded:bool -> 'p scope

val innermost : 'p task -> 'p scope
(** In which the task is. *)

val is_within : 'p scope -> 'p scope -> bool
(** [is_within scope other]: is [other] in [scope], or the same? *)

val is_cancelled : 'p task -> bool
(** Is it to be unwound where it waits? *)

val cancel : 'p scope -> unit
val iter : ('p task -> unit) -> 'p scope -> unit

val add_member : 'p scope -> 'p task -> unit
(** If it raises what a signal handler raises, it has done nothing. *)

val end_task : 'p task -> unit
(** Whoever waits for the scope goes on if this was the last one. If a signal
    handler raises, it is to be called again. *)
