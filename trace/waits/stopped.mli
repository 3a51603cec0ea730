(** Stopping a process for a moment.

    No signal is sent, so none can kill the process. If this command dies, the
    kernel lets the process continue. *)

val within : int -> (unit -> 'a) -> 'a
(** [within pid f] stops all threads of the process [pid], calls [f], and lets
    the threads continue, whatever [f] raises. A process that was already
    stopped, for example by [Ctrl-Z], stays so.

    - {b Raises} [Refused.Refused] if the caller may not stop the process, or if
      a thread doesn't stop within five seconds. *)

val now : unit -> float
(** In seconds, of a clock that is never set. *)
