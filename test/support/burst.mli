(** A burst of wake-ups. A sleeping loop is woken once, however many of its
    tasks become ready, and a running loop isn't woken at all.

    The test counts only the writes of one thread, which Linux reports in
    [/proc/thread-self/io]. So the loop must be one that is woken by a write to
    an [eventfd] or a pipe. *)

val cases :
  ((((unit -> unit) -> unit) -> unit) -> unit) -> unit Alcotest.test_case list
(** In [cases run], [run f] runs a loop in the calling domain. In this loop,
    [f start] starts tasks, and [run] returns when all have ended. Where the
    system doesn't report writes, there are no cases, and a message says so. *)

val sleeps : string -> bool
(** Whether the thread with this folder of [/proc] sleeps, for any reason. *)
