(** Timeouts, with one thread for the whole process.

    That thread belongs to the main domain, which outlives the others. It is
    started by the first timeout, or when the first domain is spawned, and
    sleeps until the first deadline; without one it sleeps for ever. It does not
    delay the end of the process, nor of any domain. *)

val after : float -> (unit -> unit) -> unit -> unit
(** [let cancel = after seconds action]: [action ()] is called, once, when
    [seconds] have passed on the monotonic clock, unless [cancel ()] came
    before. Never earlier. It is called by the thread of this module, or by one
    that calls {!run_due} or sets another timeout; each calls what it calls in
    the order of the deadlines. [action] does not raise, perform or block.

    [cancel] is idempotent, may be called anywhere, and leaves nothing of
    [action] in memory. If [cancel] comes too late it does nothing, and does not
    wait: [action] may be called just after.

    More than [1e9] seconds, [infinity] and [nan] are never.

    Neither function waits for another thread.
    - {b Late}: by some 0.1 ms. While the main domain computes, and no thread
      calls {!run_due} or sets another timeout, by some 50 ms (a thread's turn,
      or two). By the time that the main domain spends in C without releasing
      OCaml's lock, or that the machine is suspended.
    - {b Cost}: O(log n), for [n] that are pending; a system call only if this
      timeout is to be the first. To cancel is O(log n).
    - {b Fork}: in a child process, the next [after] starts a thread again. What
      was pending is then pending in both processes.
    - {b Raises} [Unix.Unix_error] or [Sys_error] if the thread cannot be
      started (no file descriptor, or no thread, is left): then the timeout is
      not set. *)

(** {2 The same in two steps} *)

val deadline : float -> int
(** When so many seconds will have passed, on this module's clock. *)

val has_passed : int -> bool
(** Has that deadline come? One look at the clock. *)

val seconds_until : int -> float
(** How long it is until that deadline; 0 once it has passed. *)

val at : int -> (unit -> unit) -> unit -> unit
(** [at (deadline seconds) action] is [after seconds action]. *)

val run_due : unit -> unit
(** Calls the actions that are due, in the order of their deadlines. A loop that
    keeps the main domain busy may call it now and then.
    - {b Cost}: that of reading the clock, if none is due. *)

val pending : unit -> int
(** How many timeouts are pending. For tests; O(n). *)

val is_idle : unit -> bool
(** Whether no timeout is pending, and the thread of this module calls no
    action. O(1). *)

val has_thread : unit -> bool
(** Whether the thread was started. *)
