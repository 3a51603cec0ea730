(** Threads that report what others do. They resume nobody: so a program that
    has nothing but them and one thread is alone ({!Others.is_alone}). *)

val start : (unit -> unit) -> unit
(** [start serve] calls [serve ()], which does not return and raises nothing, in
    a thread that blocks all signals. In another domain than the main one, whose
    end a thread would put off, it is a domain.

    @raise Unix.Unix_error
      or [Sys_error] or [Failure] if the system has no thread to give. *)

val write : string -> unit
(** To the standard error, and not through the channel, which a thread that is
    frozen may have locked. What cannot be written is lost. *)

val count : unit -> int
(** How many this process has. *)
