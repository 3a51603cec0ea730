(** The poller of one thread, for all tasks that are in no loop that polls.

    The thread is started by {!get}, or when the program spawns its first
    domain. If [CONCORD_AIO] asks for a domain of its own, that is started by
    {!get} alone. It blocks all signals, and serves the poller until the program
    ends. In a child process there is none at first. *)

val get : unit -> Poller.t
(** Waits while another thread starts it.

    - {b Raises} [Unix.Unix_error] or [Sys_error] if it cannot be started, and
      [Failure] as {!Multiplexer.create}, or if there are too many domains. *)

val served : unit -> Poller.t option
(** [None] if no thread was started in this process. *)
