(** Threads that only report. They resume no task, so a program that has only
    them and one thread is alone ({!Others.is_alone}). *)

val start : (unit -> unit) -> unit
(** [start serve] calls [serve ()] in a thread that blocks all signals. [serve]
    must not return or raise. In another domain than the main one it is a
    domain, because a thread would delay the end of the caller's domain.

    - {b Raises} [Unix.Unix_error] or [Sys_error] or [Failure] if the system has
      no thread to give. *)

val write : string -> unit
(** [write text] writes to the standard error, and not through the channel,
    because a frozen thread may have locked that. If [text] can't be written, it
    is lost. *)

val count : unit -> int
(** The number of these threads in this process. *)
