(** What a task owes to others after a step that they have seen: to resume more
    than one of them, or to do more after it has resumed one.

    All of it is done, in native code, also if a resumer raises, which is what a
    signal handler raised in it or a fault of its host, and if a signal handler
    raises at any other moment; the first exception is raised in the end. A
    structure that is made of steps leaves that to {!Step}. *)

type 'd t = {
  mutable owed : 'd;  (** What is still to be done. *)
  mutable raised : exn;
  mutable backtrace : Printexc.raw_backtrace;
  mutable tries : int;
}
(** Only the task that owes touches it. *)

val owing : 'd -> 'd t
(** To be made before the step. *)

val pay : ('t -> 'd t -> unit) -> 't -> 'd t -> unit
(** [pay f t debt], right after the step, is [f t debt]. What that raises is
    noted, and [f t debt] is called again, to go on with what is [owed] by then.
    So [f] writes this down as it goes on, with nothing that is allocated, and
    no call of an unknown function, between a step and its note.

    - {b Raises} what was noted first, after all was done. *)

val resume : _ t -> (_, 'a) Waiter.t -> ('a, exn) result -> bool
(** As {!Waiter.resume}, but [true] also if the resumer raises, which is noted:
    it has decided. Not to be the last call of a function. *)

val note : _ t -> exn -> unit
(** In the handler of an exception, which {!pay} or {!raise_noted} is to raise.
*)

val raise_noted : _ t -> unit
(** - {b Raises} what was noted first, if there was anything. *)
