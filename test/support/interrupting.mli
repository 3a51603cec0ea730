(** Code in which a signal handler raises, again and again. *)

val run : by:exn -> count:int ref -> (unit -> unit) -> unit
(** [run ~by ~count f] calls [f], in which a signal handler raises [by] about
    every 50 us; [f] is called again each time that it does, until it returns.
    [count] is how often that was. Only the calling thread is interrupted; uses
    [SIGALRM]. *)

val others : by:exn -> in_thread:(unit -> bool) -> (unit -> 'a) -> 'a
(** [others ~by ~in_thread f] calls [f]. Meanwhile a signal handler raises [by]
    about every 50 us in each thread in which [in_thread ()]. Uses [SIGALRM]. *)

val only : 'a -> 'a list
(** A test in which handlers raise: none in bytecode nor with ThreadSanitizer,
    for the reasons in [tools/bytecode.sh] and [tools/tsan/run.sh]. *)
