(** Timeouts, with one thread for the whole process.

    That thread belongs to the main domain, because the main domain outlives the
    others. It starts with the first timeout, or when the first domain is
    spawned. It sleeps until the first deadline, or forever if there is none. It
    delays neither the end of the process nor that of a domain. *)

val after : float -> (unit -> unit) -> unit -> unit
(** [let cancel = after seconds action] calls [action ()] once, when [seconds]
    have passed on the monotonic clock, but never earlier. If [cancel ()] is
    called before, [action] isn't called.

    [action] is called by the thread of this module, or by a thread that calls
    {!run_due} or sets another timeout. Each of these threads calls its actions
    in the order of their deadlines. [action] must not raise, perform an effect
    or block.

    You can call [cancel] anywhere and several times. It keeps nothing of
    [action] in memory. If it comes too late, it does nothing and doesn't wait.
    In that case, [action] may be called just after. Neither function waits for
    another thread.

    If [seconds] is more than [1e9], [infinity] or [nan], [action] is never
    called.

    - {b Late} by about 0.1 ms. While the main domain computes, and no thread
      calls {!run_due} or sets another timeout, it is late by 50 ms or even 100
      ms (one or two turns of OCaml's threads). It is also late by the time that
      the main domain spends in C code that holds OCaml's lock, or that the
      machine is suspended.
    - {b Cost}: O(log n) for [n] pending timeouts, also to cancel. It makes a
      system call only if the new timeout is the first one.
    - {b Fork}: in a child process, the next [after] starts a thread again.
      Pending timeouts are then pending in both processes.
    - {b Raises} [Unix.Unix_error] or [Sys_error] if the thread can't be
      started, because no file descriptor or no thread is left. In that case,
      the timeout is not set. *)

(** {2 The same in two steps} *)

val deadline : float -> int
(** [deadline seconds] is the time on this module's clock when [seconds] will
    have passed. *)

val has_passed : int -> bool
(** [has_passed deadline] is [true] if the deadline has come. It reads the clock
    once. *)

val seconds_until : int -> float
(** [seconds_until deadline] is the time until the deadline, or 0 if it has
    passed. *)

val at : int -> (unit -> unit) -> unit -> unit
(** [at (deadline seconds) action] is [after seconds action]. *)

val run_due : unit -> unit
(** [run_due ()] calls the actions that are due, in the order of their
    deadlines. A loop that keeps the main domain busy may call it now and then.

    - {b Cost}: that of reading the clock, if none is due. *)

val pending : unit -> int
(** [pending ()] is the number of pending timeouts, for tests. O(n). *)

val is_idle : unit -> bool
(** [is_idle ()] is [true] if no timeout is pending and the thread of this
    module is calling no action. O(1). *)
