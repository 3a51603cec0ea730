(** Code in which a signal handler raises again and again. *)

val run : by:exn -> count:int ref -> (unit -> unit) -> unit
(** [run ~by ~count f] calls [f], in which a signal handler raises [by] about
    every 50 us. After each such exception it calls [f] again, until [f]
    returns. [count] is the number of exceptions. Only the calling thread is
    interrupted. This uses [SIGALRM]. *)

val others : by:exn -> in_thread:(unit -> bool) -> (unit -> 'a) -> 'a
(** [others ~by ~in_thread f] calls [f]. Meanwhile a signal handler raises [by]
    about every 50 us in each thread in which [in_thread ()] is true. This uses
    [SIGALRM]. *)

val at_every_allocation :
  ?within:string -> (unit -> (bool ref -> unit) * (string -> unit)) -> unit
(** [at_every_allocation make] takes [(f, check)] from [make ()], and calls
    [f armed] and then [check what]. [Exit] is raised at the first allocation
    while [!armed]. Then all of this is repeated with the second allocation, and
    so on until there are no more, and then with [Exit] at several allocations
    in a row. With [within], an allocation counts only if the name of its
    function begins with this string. Functions of Stdlib count as their
    callers. [Exit] may leave [f]. It is raised by callbacks of [Memprof], which
    run where signal handlers do. *)

val only : 'a -> 'a list
(** A list with a test in which handlers raise. It is empty in bytecode and with
    ThreadSanitizer, for the reasons in [tools/bytecode.sh] and
    [tools/tsan/run.sh]. *)

val all_of : (unit -> (unit -> unit) * (string -> unit)) -> unit
(** {!at_every_allocation}, where all allocations of the function count. *)

val passes : unit Concord.Event.t
(** An event that is never ready, and resumes any task that waits for it at
    once. So the other alternatives of its choice are withdrawn. *)
