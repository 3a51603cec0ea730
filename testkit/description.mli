(** What a structure does, as pure functions.

    {b Stability}: experimental, because a new clause or check may need a longer
    description.

    {{!Structure}The tests of a structure} compare the structure with its
    description. Read one as the structure's specification: it has a value for
    the state, and says what each operation does to it and when it waits. It
    doesn't say how tasks are suspended, resumed or cancelled, because this is
    the same for all structures (see {!Run}). *)

(** What one operation does in a state. Results are text, because they are only
    compared and printed. *)
type ('state, 'operation) answer =
  | Waits  (** It waits in its line. *)
  | Returns of 'state * string  (** It returns or raises this. *)
  | Continues of 'state * 'operation
      (** The task goes on with this operation when it runs, which is at once if
          it hasn't waited. *)
  | Wakes_one of {
      line : int;
      result : string;
      accepted : 'operation -> ('state, 'operation) answer;
      nobody : ('state, 'operation) answer;
    }
      (** The first task in this line that isn't cancelled continues with this
          result, and then [accepted] is the answer, with the operation of that
          task. Otherwise it is [nobody]. *)
  | Wakes_all of {
      lines : int list;
      result : string;
      next : ('state, 'operation) answer;
    }
      (** All tasks in these lines continue with this result, in the order of
          arrival. Then the answer is [next]. *)

(** How exact an operation is while other domains perform theirs. *)
type exactness =
  | Exact
      (** It is a single step. Only a task that is just being resumed may still
          be cancelled. *)
  | Exact_alone
      (** It is a single step while no task waits. It is tested only then. *)
  | May_miss
      (** Serving a task takes several steps. An operation that only tries
          meanwhile may get ["none"], although it need not have waited. *)
  | Inexact  (** It isn't tested so. *)

(** What a task does that is cancelled while it waits in an operation. *)
type 'operation if_cancelled =
  | Leaves  (** It leaves its line. *)
  | Performs of 'operation
      (** It leaves its line, and still performs this operation, whose result is
          {!withdrawn}. *)
  | Stays  (** It can't be cancelled, because it is protected. *)

val withdrawn : string
(** The result of a cancelled task. *)

val not_permitted : string
(** The result of an operation that a program shouldn't perform in this state,
    for example to unlock a lock that nobody holds. Races in which it may happen
    aren't tested. A lock that is handed to a cancelled task seems to be held
    until this task refuses it, so another domain might unlock it meanwhile. *)

val often : 'operation list -> 'operation list
(** [often operations] has each of them four times, for [operations] of a
    description. Write [often [ Add n; Take ] @ [ Close ]] because little
    happens after the structure was closed. *)

module type S = sig
  type state
  type operation

  val name : string

  val initial : state
  (** Of a new structure. *)

  val operations : int -> operation list
  (** [operations n] are the operations to choose from. They may give the value
      [n], which is a different one in each call. An operation that is often in
      the list ([often]) is often chosen. *)

  val line : operation -> int option
  (** The line in which the operation waits, or [None] if it never waits. The
      tasks in a line are served in the order of arrival, and the lines in the
      order of their numbers. *)

  val perform :
    waiting:operation list -> state -> operation -> (state, operation) answer
  (** [perform ~waiting state operation] is what the operation does. [waiting]
      are the operations of the other tasks that wait, in the order of arrival.
  *)

  val if_cancelled : operation -> operation if_cancelled
  val beside : operation -> exactness
  val show : operation -> string

  val looks : operation list
  (** Operations whose results show the state. They are tried at the end, unless
      they may wait and have no form that doesn't. *)
end

(** The tasks that perform the operations. These rules hold for all structures:

    - A task whose operation [Waits] joins the end of its line. It also does so
      if the operation [Returns] or [Continues], but other tasks are in its
      line, because newcomers don't overtake.
    - After each change, the first task of each line is served while its
      operation [Returns] or [Continues].
    - A cancelled task first {e refuses}: it consumes nothing when it is served,
      and leaves its line. When it runs, it is withdrawn. Until then it stands
      in its line, and is one of the waiting tasks.
    - A task that was served or cancelled is {e ready}, and takes a turn when
      its scheduler runs it. *)
module Run (D : S) : sig
  type t
  (** An immutable state of the structure and its tasks. *)

  val initial : t

  val arrive : t -> task:int -> tries:bool -> D.operation -> t
  (** A task performs an operation. With [tries], it gets ["none"] if the
      operation would wait. *)

  val refuse : t -> int -> t
  (** This task is cancelled. Changes nothing if it doesn't wait, or [Stays]. *)

  val turn : t -> int -> t
  (** This task runs, if it is ready, but only until it [Continues]. *)

  val runs : t -> int -> t
  (** This task runs until it waits or ends. *)

  val turns : t -> t
  (** The ready tasks run, in the order in which they became ready, until none
      is. *)

  val waits : t -> int -> bool
  (** Whether this task waits, and could be cancelled. *)

  val waiting : t -> int
  (** How many tasks stand in lines. *)

  val served : t -> (int * string) list
  (** The tasks that have ended, and their results, last one first. *)

  (** {2 All orders} *)

  type action =
    | Arrive of { task : int; tries : bool; operation : D.operation }
    | Refuse of int
    | Turn of int

  val ends : exact:bool -> t -> action list list -> t list
  (** [ends ~exact t sequences] are the states that are possible after
      [sequences], each of which is performed in its order beside the others.
      The ready tasks take their turns at any time. If it is [exact], no
      operation misses anything, and one that need not wait is a single step
      even if it [Continues]. *)
end
