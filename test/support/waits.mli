(** The operations of {!Operations}, in all the ways in which a task can call
    them: as a function, and as an event that is performed alone, in a choice,
    or within a time. *)

type 'ok t = {
  wait : unit -> 'ok;
      (** It has to wait. The result says whether the value is right. *)
  waiters : unit -> int;
  wake : unit -> unit;  (** Ends the wait, and never waits itself. *)
  kept : unit -> bool;
      (** Called after [wake] if the waiter was cancelled. Checks that the value
          for the waiter still exists. *)
  passed : unit -> bool;
      (** Called after [wake] if the waiter has its value. Checks that no other
          task can get the value too. *)
  remembers : bool;  (** [wake] may come before [wait]. *)
  one_by_one : bool;
      (** A wake serves the first of several tasks that wait, and no other. *)
}
(** A structure in a state in which a task has to wait. *)

val direct : unit -> (string * (unit -> bool t)) list
(** In direct style. Each way makes a new structure.

    This also makes some structures, in which tasks wait, and drops them. *)

val for_promise : (int Concord.Promise.t -> 'ok) -> 'ok t
(** This function waits for a new promise, which [wake] fills with 1. *)

(** In the style of a library of promises. *)
module Make (S : Operations.Style) : sig
  val all : unit -> (string * (unit -> bool S.promise t)) list
  (** The style's own operations, and those of direct style in [S.direct]. *)
end
