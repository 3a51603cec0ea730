(** A burst of wake-ups: a loop that sleeps is woken once, however many of its
    tasks become ready, and one that runs is not woken at all.

    Writes only are counted, those of one thread, as the system tells them
    ([/proc/thread-self/io]): so the loop must be one that is woken by a write,
    to an [eventfd] or a pipe. *)

val cases :
  ((((unit -> unit) -> unit) -> unit) -> unit) -> unit Alcotest.test_case list
(** [cases run]: [run f] runs a loop in the calling domain, in which [f start]
    starts tasks, until all have ended. No case where the system does not tell;
    it says so. *)

val sleeps : string -> bool
(** Does the thread with this folder of [/proc] sleep, whatever for? *)
