(** When the program collects garbage to find lost tasks, for
    [CONCORD_DEBUG=leaks]. *)

val start : unit -> unit
(** Starts a thread that wakes sleeping threads. Called once, when the program
    starts. *)

val before_sleep : is_over:(unit -> bool) -> wake:(unit -> unit) -> unit
(** {!Leaks.before_sleep}. *)
