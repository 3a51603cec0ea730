(** Tasks that end together, on whatever host calls.

    {b Stability}: stable.

    A library uses a scope to do several things at once, and need not know which
    scheduler it runs on. The tasks of a scope are tasks of the caller's host,
    if the host says how it starts tasks: {!Concord_fifo} does, and Eio if
    [concord-eio] is linked. On every other host (a system thread, a domain, a
    pool of Domainslib, Lwt, Eio without [concord-eio]) the scope runs a
    {!Concord_fifo} inside the calling task, and its tasks are tasks of that.
    They wait in all structures, beside one another, and take turns: they do not
    run in parallel, and an operation of the host itself holds up all of them.
    While they always have something to do, the host's other tasks have a turn
    every 10 ms.

    {[
      # Scope.run (fun scope ->
          let box = Mvar.create_empty () in
          Scope.fork scope (fun () -> Mvar.put box "hello");
          Mvar.take box)
      - : string = "hello"
    ]}

    {2 How a scope ends}

    {!run} returns or raises when its body and all tasks of the scope have
    ended, and never before. So no task is left behind.

    - {b Failure}. A task that raises has failed, and so has the body. The first
      failure cancels the body and all tasks of the scope. {!run} raises it,
      with its backtrace. What others raise after it is dropped.
    - {b Cancelled} from outside: if the host cancels the task that called
      {!run}, then it cancels the tasks of the scope, and {!run} raises the
      host's exception. If a task fails while it is unwound, {!run} raises that
      failure instead.
    - {b Hosts without cancellation} (threads, Domainslib) never cancel the
      caller. A failure cancels the tasks of the scope there too, as they are
      tasks of {!Concord_fifo}. On a host that answers for itself and cannot
      cancel, the tasks run to their end after a failure.
    - {b Signal handlers} that raise: if a task or the body is interrupted, that
      is a failure, also where it was cancelled before. If {!run} itself is
      interrupted, while it waits for the tasks, then they are cancelled, and
      {!run} raises the exception when they have ended. *)

type t
(** A scope: a body and tasks. *)

exception Cancelled
(** {!run} raises it if {!cancel} has cancelled the scope and its body; a
    promise of {!fork_promise} fails with it if its task was cancelled. *)

val run : (t -> 'a) -> 'a
(** [run body] calls [body] with a new scope, in the calling task, and returns
    its value after every task of the scope has ended.

    - {b Suspends} the calling task until the tasks have ended.
    - {b Cancelled}: see above. The tasks are cancelled, and [run] raises after
      they have ended.
    - {b Cost}: on {!Concord_fifo} and Eio that of asking the host, and of a
      scope or switch there; on other hosts that of a {!Concord_fifo.run}, some
      microseconds.
    - {b Raises} [e] if [body] or a task of the scope raised [e]; see above.

    @raise Cancelled if {!cancel} was called, and then [body] was cancelled. *)

val fork : t -> (unit -> unit) -> unit
(** [fork t f] runs [f] in a new task of [t]. The task may begin before [fork]
    returns.

    It is called by the body of [t], by a task of [t], or by one in a scope
    within. No other task can keep [t] from ending meanwhile. The tasks of a
    loop that a task of [t] runs (an [Eio_main.run], say) are tasks of another
    host.

    - {b Suspends} as the host's own function: {!Concord_fifo} lets the other
      ready tasks have their turn.
    - {b Cancelled}: raises the host's exception before [f] is called. If [fork]
      returns, [f] is called, also in a scope that is cancelled.
    - {b Order}: tasks begin in the order in which one task forks them.

    {[
      # let square_all numbers =
          Scope.run (fun scope ->
              let squares = Mailbox.create () in
              let square n () = Mailbox.put squares (n * n) in
              List.iter (fun n -> Scope.fork scope (square n)) numbers;
              List.map (fun _ -> Mailbox.take squares) numbers)
      val square_all : int list -> int list = <fun>
      # square_all [ 1; 2; 3 ]
      - : int list = [1; 4; 9]
    ]}

    - {b Cost}: that of a task of the host.
    - {b Raises} [Invalid_argument] if [t] has ended, or if the caller may not
      fork. *)

val fork_promise : t -> (unit -> 'a) -> 'a Promise.t
(** [fork_promise t f] forks a task that fills the promise with [f ()]. If [f]
    raises [e], then the promise fails with [e], with its backtrace; this is not
    a failure of [t]. If the task was cancelled, then the promise fails with
    {!Cancelled}, which tasks of any host understand. The promise is always
    resolved. Nothing happens if you resolved it before. Otherwise as {!fork}.

    {[
      # Scope.run (fun scope ->
          let name = Scope.fork_promise scope (fun () -> "Ada") in
          let born = Scope.fork_promise scope (fun () -> 1815) in
          Printf.sprintf "%s, %d" (Promise.await name) (Promise.await born))
      - : string = "Ada, 1815"
    ]} *)

val cancel : t -> unit
(** [cancel t] cancels the tasks and the body of [t]: the host's exception is
    raised where they wait. That is no failure: {!run} returns if [body] does.
    So a body can end what runs beside it:

    {[
      # Scope.run (fun scope ->
          Scope.fork scope (fun () ->
              try Event.sync Event.never with e -> print_endline "stopped"; raise e);
          Scope.cancel scope;
          "done")
      stopped
      - : string = "done"
    ]}

    It is called by those that may call {!fork}. Eio raises [Invalid_argument]
    in another domain, and does nothing. Nothing happens if [t] was cancelled,
    has failed, or has ended.

    - {b Cost}: O(n), for [n] tasks and scopes in [t]. *)

(**/**)

(** For {!Tasks} only. *)

type 'a outcome =
  | Returned of 'a  (** The body did. *)
  | Stopped  (** {!cancel} was called, and then the body was cancelled. *)
  | Unwound of exn * Printexc.raw_backtrace
      (** The host has cancelled a task of the scope, and only that one. *)
  | Interrupted of exn * Printexc.raw_backtrace
      (** The host has cancelled the caller, or a signal handler has raised. *)
  | Failed of exn * Printexc.raw_backtrace

val run_to_end : (t -> 'a) -> 'a outcome
(** {!run}, which raises what the outcome says. *)

val check_cancelled : unit -> unit
(** Raises what the host of the calling task raises, if that was cancelled. *)

type cause =
  | Cancellation of exn * Printexc.raw_backtrace  (** of the host *)
  | Failure of exn * Printexc.raw_backtrace
      (** of the task, or what a signal handler raised *)

val cause : exn -> Printexc.raw_backtrace -> cause
(** [cause e backtrace] says what ends the calling task, which has raised [e].
    It is another exception if the task was cancelled, and a signal handler
    raised after that. *)
