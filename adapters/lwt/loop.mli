(** Lwt's loop, and how others wake it.

    Lwt has one loop in a process, and its state belongs to the thread that runs
    it. What others want done there goes through a queue of wakes, which hooks
    of Lwt's loop serve. They are installed when this module is initialised. *)

(** {2 Whose it is} *)

val run : (unit -> 'a) -> 'a
(** [run f] is [f ()], in which the calling thread runs Lwt's loop.
    @raise Failure in another [run], of whatever thread. *)

val is_running : unit -> bool
(** Is the calling thread in {!run}? *)

val enter : unit -> unit
(** The calling thread is going to touch Lwt's state.
    @raise Invalid_argument if another thread runs Lwt's loop. *)

(** {2 Waking} *)

val resume :
  ('a, exn) result Atomic.t ->
  before:('a, exn) result ->
  after:('a, exn) result ->
  'b Lwt.t ->
  'b Lwt.u ->
  ('b, exn) result ->
  bool
(** [resume decision ~before ~after promise waker result] replaces [before] in
    [decision] by [after]; [false] if that fails. Then [promise], which belongs
    to [waker], is resolved with [result] in Lwt's loop, soon, in the order of
    the calls, unless it is cancelled before. From any thread. Also does
    {!end_wait}.

    If it raises what a signal handler raises, nothing has happened, or all of
    it.
    - {b Cost}: O(1). A system call only if the loop may sleep. *)

(** {2 How many tasks wait for others to wake them}

    If any does, the loop spins for a moment before it sleeps. *)

val begin_wait : unit -> unit
val end_wait : unit -> unit

(** {2 Turns} *)

val at_once : int ref
(** How many operations may still be done at once before {!turn} is to be asked.
*)

val turn : unit -> unit Lwt.t option
(** The loop's next turn, if this one has been long enough: some 10 ms, spent in
    operations that did not wait. [None] also if another thread runs the loop.
*)
