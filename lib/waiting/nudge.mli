(** Overtaking a task that waits in a thread that sleeps.

    A thread that sleeps takes so long to continue that what is handed to it
    keeps all others waiting, who fall asleep in turn: a convoy, which does not
    dissolve. So a structure does not hand over to a task of such a thread. It
    {e nudges} the task: the structure stays free, and the task tries again.
    Others may overtake it until then, {!most} times. If it comes in vain it
    goes to the front of its queue. After {!patience_ns} the structure is handed
    to it as to any other task.

    The structure's state says that a nudged task is on its way, and how many
    have overtaken it. This module has the task's part.

    No function but {!wait} suspends. *)

type t
(** Part of what a task waits with. *)

val never : t
(** The task is not nudged. *)

val is_due : t -> bool
(** Is the task to be nudged, because its thread sleeps? *)

val is_over : t -> bool
(** Was the task nudged before? Then it is on its way, or has come in vain. *)

val outcome : ('a, exn) result
(** That of a waiter that is nudged. It is out of its queue then. *)

val most : int
(** How many tasks overtake at most. *)

val patience_ns : int

type ('t, 'x, 'a) waiting = {
  operation : ('t, 'x, 'a) Operation.t;  (** Also that of the event. *)
  how_again : ('t, 'x, 'a) Operation.how;
      (** That of a nudged task: it goes to the front, and is not on its way any
          more. *)
  of_arg : 'x -> t;
  with_arg : 'x -> t -> 'x;
  give_up : 't -> 'x -> unit;
      (** The nudged task does not come. Made by [Step.surely], which is not its
          last call: the compiler would put a poll before it, where a signal
          handler may raise. It may be called for one that was not nudged,
          beside one that was: so a state may say that nobody is on his way
          while somebody is, and never the other way round. *)
}
(** How a task waits in a structure of type ['t], with an ['x] for an ['a]. *)

val wait : ('t, 'x, 'a) waiting -> 't -> 'x -> 'a
(** {!Operation.wait} with the operation, and again each time that the task is
    nudged. *)

(** {2 For tests} *)

val operation_again : ('t, 'x, 'a) waiting -> ('t, 'x, 'a) Operation.t
(** That of a nudged task. *)

val of_thread : Sleeper.t -> t

val of_nudged : Sleeper.t -> t
(** It was nudged just now. *)

val of_impatient : Sleeper.t -> t
(** It was nudged {!patience_ns} ago. *)

val again : t -> t
(** When it was nudged, or has come in vain: {!is_due} until {!patience_ns} have
    passed since the first time. *)
