(** Lwt's loop, and how others wake it.

    Lwt has one loop in a process, and its state belongs to the thread that runs
    it. What others want done there goes through an inbox. *)

val run : (unit -> 'a) -> 'a
(** The calling thread runs Lwt from now on.
    @raise Failure in another [run], of whatever thread. *)

val is_running : unit -> bool
(** Is the calling thread in {!run}? *)

val enter : unit -> unit
(** To be called in what is to be Lwt's thread: it is, from the first call on.
    @raise Invalid_argument if another one is. *)

val wake : 'b Lwt.u -> ('a -> 'b) -> ('a, exn) result -> unit
(** [wake waker result outcome] has the promise of [waker] resolved in Lwt's
    loop, soon, in the order of the calls, unless it is cancelled before. From
    any thread, after {!enter}. It is rejected, or its value is [result v];
    [result] does not raise. Also does {!end_wait}.
    - {b Cost}: O(1). A system call only if the loop may sleep. *)

(** {2 How many tasks wait for others to wake them}

    If any does, the loop spins for a moment before it sleeps. *)

val begin_wait : unit -> unit
val end_wait : unit -> unit
