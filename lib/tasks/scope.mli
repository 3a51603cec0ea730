(** A scope for tasks that end together, on any host.

    {b Stability}: stable.

    Use a scope if a function needs several tasks, but shouldn't leave a task
    behind. {!run} returns only after all tasks of the scope have ended. Your
    code doesn't need to know its {e host}, the scheduler or thread running it.

    {[
      # Scope.run (fun scope ->
          let box = Mvar.create_empty () in
          Scope.fork scope (fun () -> Mvar.put box "hello");
          Mvar.take box)
      - : string = "hello"
    ]}

    If you know the functions in advance, {!Tasks} is shorter.

    {1 Which tasks these are}

    If the caller's host says how it starts tasks, the scope uses the host's
    tasks. {!Concord_fifo} does, and so does Eio with [concord-eio].

    On every other host, the scope runs a {!Concord_fifo} inside the calling
    task. (Examples are a thread, a domain, a Domainslib pool, Lwt, and Eio
    without [concord-eio].) Its tasks can wait in all structures, but they take
    turns, and don't run in parallel. If one of them calls a blocking operation
    of the host itself, it delays all of them. While they always have something
    to do, the host's other tasks run every 10 ms.

    {1:values Values that belong to a task}

    {!Local} has values that follow a task to every host. Besides, many hosts
    let you bind values of their own to the current task, for example the user
    whom it serves. Each task of a scope sees what it has bound itself, whatever
    the others bind meanwhile. The calling task sees the values of the body.

    {t
      | Host                                     | Values                            | A new task begins with                     |
      |------------------------------------------|-----------------------------------|--------------------------------------------|
      | Eio, with [concord-eio]                  | [Fiber.key]                       | the values of the task that called {!fork} |
      | Lwt, with [concord-lwt]                  | [Lwt.key], [Lwt_direct.Storage]   | the same                                   |
      | Async, with [concord-async]              | locals, monitor and priority      | the same                                   |
      | Picos and Moonpool, with [concord-picos] | [Fiber.FLS], [Task_local_storage] | no values, as in each new fiber            |
    }

    Without its adapter, a library doesn't know the tasks of a scope. They share
    one Eio fiber, or one [Lwt_direct] task, and its values, so
    {b a task may see what another one has bound}. The same holds for values
    belonging to a thread or a domain, such as [Domain.DLS].

    {1 How a scope ends}

    - {b Failure}. A task or the body fails if it raises. The first failure
      cancels the body and all tasks of the scope. {!run} raises its exception
      with its backtrace, and drops later ones.
    - {b Cancelled} from outside. If the host cancels the task in {!run}, all
      tasks of the scope are cancelled, and {!run} raises the host's exception.
      If a task fails while it is unwound, {!run} raises its failure instead.
    - {b Hosts without cancellation}, such as threads and Domainslib, never
      cancel the caller. But after a failure, the tasks of the scope are
      cancelled there too, because they are tasks of {!Concord_fifo}. If a host
      starts tasks itself but can't cancel them, they run to their end after a
      failure.

    See also the pages on {{!/concord/eio}Eio} and {{!/concord/picos}Picos}. *)

type t
(** A scope, which has a body and tasks. *)

exception Cancelled
(** {!run} raises it if {!cancel} has cancelled the scope and its body. A
    promise of {!fork_promise} fails with it if its task was cancelled. *)

val run : (t -> 'a) -> 'a
(** [run body] calls [body] with a new scope, in the calling task. It returns
    the value of [body] after all tasks of the scope have ended.

    - {b Suspends} until all tasks have ended. It may suspend even if there is
      no task. If the caller is cancelled already, it raises the host's
      exception. {!Concord_fifo}, and Eio with [concord-eio], don't call [body]
      then. Other hosts may call it, and raise where a task of the scope waits.
    - {b Cancelled} meanwhile, it cancels the tasks, and raises after they have
      ended.
    - {b Cost}: on {!Concord_fifo} and Eio, a question to the host, and a scope
      or switch there. On other hosts, a {!Concord_fifo.run}, which is some
      microseconds.
    - {b Raises} [e] if [body] or a task of the scope raises [e].
    - {b Raises} {!Cancelled} if {!cancel} was called, and then [body] was
      cancelled. *)

val fork : t -> (unit -> unit) -> unit
(** [fork t f] runs [f] in a new task of [t]. The task may begin before [fork]
    returns.

    {[
      # let square_all numbers =
          Scope.run (fun scope ->
              let squares = Mailbox.create () in
              let square n () = Mailbox.add squares (n * n) in
              List.iter (fun n -> Scope.fork scope (square n)) numbers;
              List.map (fun _ -> Mailbox.take squares) numbers)
      val square_all : int list -> int list = <fun>
      # square_all [ 1; 2; 3 ]
      - : int list = [1; 4; 9]
    ]}

    Call it in the body of [t], in a task of [t], or in a scope inside one of
    them. Other tasks must not call it, because [t] might end meanwhile. If a
    task of [t] runs a loop of its own, such as [Eio_main.run], the loop's tasks
    belong to another host.

    - {b Suspends} as the host's own function. {!Concord_fifo} lets the other
      ready tasks run.
    - {b Cancelled} meanwhile, it raises the host's exception before [f] is
      called. If [fork] returns, [f] is called, even in a cancelled scope.
    - {b Order}: tasks begin in the order in which one task forks them.
    - {b Cost}: one of the host's tasks.
    - {b Raises} [Invalid_argument] if [t] has ended, or if the caller may not
      fork. *)

val fork_promise : t -> (unit -> 'a) -> 'a Promise.t
(** [fork_promise t f] runs [f] in a new task of [t], and returns a promise of
    its value.

    {[
      # Scope.run (fun scope ->
          let name = Scope.fork_promise scope (fun () -> "Ada") in
          let born = Scope.fork_promise scope (fun () -> 1815) in
          Printf.sprintf "%s, %d" (Promise.await name) (Promise.await born))
      - : string = "Ada, 1815"
    ]}

    If [f] raises [e], the promise fails with [e] and its backtrace, but this is
    not a failure of [t]. If the task is cancelled, the promise fails with
    {!Cancelled}, which tasks of any host understand. The promise is always
    resolved. If you resolve it yourself before, the task's outcome is dropped.

    - {b Suspends}, and is cancelled, as {!fork}. Order, cost and exceptions are
      those of {!fork} too. *)

val cancel : t -> unit
(** [cancel t] cancels the tasks and the body of [t].

    The host's exception is raised where they wait. This isn't a failure, so
    {!run} returns normally if the body does. For example, a body can stop the
    tasks beside it:

    {[
      # Scope.run (fun scope ->
          Scope.fork scope (fun () ->
              try Event.sync Event.never with e -> print_endline "stopped"; raise e);
          Scope.cancel scope;
          "done")
      stopped
      - : string = "done"
    ]}

    Whichever task may call {!fork} may also call it. In another domain, Eio
    raises [Invalid_argument] and does nothing. If [t] was already cancelled,
    has failed or has ended, nothing happens.

    - {b Cost}: O(n) for [n] tasks and scopes in [t]. *)

(**/**)

(** For {!Tasks} only. *)

type 'a outcome =
  | Returned of 'a  (** The body returned. *)
  | Stopped  (** {!cancel} was called, and then the body was cancelled. *)
  | Unwound of exn * Printexc.raw_backtrace
      (** The host has cancelled a task of the scope, and nothing else. *)
  | Raised of exn * Printexc.raw_backtrace
      (** The host has cancelled the caller. *)
  | Failed of exn * Printexc.raw_backtrace

val run_to_end : (t -> 'a) -> 'a outcome
(** [run_to_end body] does the same as {!run}, but returns the outcome. *)

val run_expiring : (expire:(unit -> unit) -> unit) -> unit outcome
(** [run_expiring body] is [run_to_end (fun t -> body ~expire)], where [expire]
    does the same as [cancel t], but any thread may call it, even after the end
    of the scope. It neither raises, nor performs an effect, nor blocks. *)

val expires_by : Suspend.scopes -> Suspend.scopes -> unit
(** [expires_by scopes by] makes {!run_expiring} use [by] on hosts with
    [scopes]. They have two differences. Nothing calls [fork], and any thread
    may call [cancel], even after the end of the scope. [cancel] neither raises,
    nor performs an effect, nor blocks. It cancels the body where it waits next.
    For adapters. *)

val check_cancelled : unit -> unit
(** [check_cancelled ()] raises the host's exception if the calling task was
    cancelled. *)

type cause =
  | Cancellation of exn * Printexc.raw_backtrace  (** of the host *)
  | Failure of exn * Printexc.raw_backtrace  (** of the task *)

val cause : exn -> Printexc.raw_backtrace -> cause
(** [cause e backtrace] says what ends the calling task, which has raised [e].
*)
