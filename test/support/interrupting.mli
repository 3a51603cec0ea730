(** Code in which a signal handler raises, again and again. *)

val run : by:exn -> count:int ref -> (unit -> unit) -> unit
(** [run ~by ~count f] calls [f], in which a signal handler raises [by] about
    every 50 us; [f] is called again each time that it does, until it returns.
    [count] is how often that was. Only the calling thread is interrupted; uses
    [SIGALRM]. *)

val others : by:exn -> in_thread:(unit -> bool) -> (unit -> 'a) -> 'a
(** [others ~by ~in_thread f] calls [f]. Meanwhile a signal handler raises [by]
    about every 50 us in each thread in which [in_thread ()]. Uses [SIGALRM]. *)

val at_every_allocation :
  ?within:string -> (unit -> (bool ref -> unit) * (string -> unit)) -> unit
(** [at_every_allocation make] calls [f armed] and then [check what], for
    [make ()] that is [(f, check)]. [Exit] is raised at the first allocation
    while [!armed]; then all of it again with the second, and so on until there
    are no more. Then the same with [Exit] at several allocations in a row. With
    [within] only allocations count whose function's name begins so; functions
    of Stdlib count as their callers. [Exit] may leave [f]. Callbacks of
    [Memprof] raise it, which run where signal handlers do. OCaml 5.1 and 5.2
    have no such callbacks: there it does nothing, and says so. *)

val is_before_5_3 : bool
(** OCaml 5.3 brought the syntax of effect handlers, and [Memprof]. *)

val only : 'a -> 'a list
(** A test in which handlers raise: none in bytecode nor with ThreadSanitizer,
    for the reasons in [tools/bytecode.sh] and [tools/tsan/run.sh]. *)

val unwound : 'a -> 'a list
(** {!only}, for a test in which handlers raise just as a task of [Concord_fifo]
    suspends or continues, and that expects the task to be unwound: none before
    OCaml 5.3, for the reason in [doc/limits.mld]. *)

val all_of : (unit -> (unit -> unit) * (string -> unit)) -> unit
(** {!at_every_allocation}, where all allocations of the function count. *)

val passes : unit Concord.Event.t
(** It is never ready, and resumes whoever waits for it at once: so the other
    alternatives of its choice are withdrawn. *)
