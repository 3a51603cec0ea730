(** Several things at once, on whatever host calls.

    {!Scope} says which tasks these are, and how they end. *)

val both : (unit -> 'a) -> (unit -> 'b) -> 'a * 'b
(** [both f g] runs [f ()] and [g ()] at once, and returns the values of both.
    [f] begins first, in a task of its own; the calling task runs [g].

    - {b Suspends} until both have ended.
    - {b Cancelled}: so are both; then the host's exception is raised.
    - {b Cost}: that of {!Scope.run}, and of one task.

    {[
      # let box = Mvar.create_empty () in
        both (fun () -> Mvar.take box) (fun () -> Mvar.put box "hello")
      - : string * unit = ("hello", ())
    ]}
    - {b Raises} [e] if one of them raised [e], after the other was cancelled
      and has ended; if both raised, then what the first one did. *)

val all : (unit -> 'a) list -> 'a list
(** [all fs] runs the functions of the list at once, and returns their values in
    the order of the list. They begin in that order; the calling task runs the
    last one, the others have tasks of their own.

    - {b Suspends} until all have ended.
    - {b Cancelled}: so are all; then the host's exception is raised.
    - {b Cost}: that of {!Scope.run}, and of a task for each function.

    {[
      # let double n () = 2 * n in
        all (List.map double [ 1; 2; 3 ])
      - : int list = [2; 4; 6]
    ]}
    - {b Raises} [e] if one of them raised [e], after the others were cancelled
      and have ended; if several raised, then what the first one did. *)

val yield : unit -> unit
(** Lets other ready tasks of the caller's host have their turn; in a thread
    without scheduler, other threads of its domain.

    - {b Cancelled}: raises the host's exception.
    - {b Order}: on {!Concord_fifo} and Eio the caller goes on after all tasks
      that are ready.
    - {b Cost}: that of a suspension. A host that is reached through
      [Domain_local_await] (a Domainslib pool, Eio without [concord-eio]) needs
      another thread to wake the task: some 0.1 ms.

    {[
      # Concord_fifo.run (fun () ->
          both
            (fun () -> print_endline "a"; yield (); print_endline "c")
            (fun () -> print_endline "b"))
      a
      b
      c
      - : unit * unit = ((), ())
    ]} *)
