(** The guards of [CONCORD_DEBUG=leaks] (see {!Leaks}), and their reports. This
    turns the search on when the program starts. *)

val guard :
  (unit -> Printexc.raw_backtrace) ->
  'a Concord_suspend.resumer ->
  'a Concord_suspend.resumer
(** {!Leaks.guard}. *)

val watch : unit -> int
(** From now on the calling domain resumes those waits that the collector finds
    lost. The result is the number of waits that have come since the last call,
    and go on. *)

val collect : unit -> unit
(** Finds what is lost now, and resumes it. *)

val lost : (int -> Printexc.raw_backtrace) -> unit
(** Reports a task that nothing can resume, because no other thread is left. *)
