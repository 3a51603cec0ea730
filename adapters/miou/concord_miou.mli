(** Concord's structures for Miou. Tasks of Miou can wait in them together with
    the tasks of every other host, in any domain.

    {b Stability}: experimental, may change in any release.

    {@ocaml[
    let () =
      Concord_miou.run @@ fun () ->
      let box = Concord.Mvar.create_empty () in
      let domain = Domain.spawn (fun () -> Concord.Mvar.put box "a domain") in
      let task = Miou.async (fun () -> print_endline (Concord.Mvar.take box)) in
      Miou.await_exn task;
      Domain.join domain
    ]}

    Start Miou by {!run} instead of [Miou_unix.run]. Linking this library is not
    enough, but you don't need to call anything else, because every operation of
    Concord works in tasks of [Miou.async] and [Miou.call]. If a program that
    links this library starts Miou in another way, an operation that has to wait
    raises [Invalid_argument], even if the program doesn't name the library.
    Miou is not patched.

    See also {{!/concord/miou}Concord for those who know Miou}.

    {2 Rules for all operations}

    - {b Suspends} the task. The domain's other tasks continue, even if the
      operation no longer has to wait.
    - {b Cancelled} by [Miou.cancel] while it waits, an operation has changed
      nothing, and raises [Miou.Cancelled]. If the operation was performed
      before, it returns. See below for what the task can still do.
    - {b Order} is that of the structure. A task is resumed in a turn of another
      task, the {e porter}. Each domain has one porter.
    - {b Handlers} of signals, finalisers and threads beside Miou may resume its
      tasks, at any moment.

    {2 After the cancellation}

    Miou drops a cancelled task at the next effect that the task performs, such
    as [Miou.yield]. No code of the task runs after that, not even its exception
    handlers. This is Miou's design. But operations of Concord perform no effect
    in such a task, so that clean-up code made of them runs to its end.
    Operations that need not wait are performed, and operations that have to
    wait raise the cancellation again. (This holds if the task was cancelled in
    one of Concord's operations, because otherwise they don't know of the
    cancellation.)

    A wait in {!Concord.Tasks.protect}, for example that of
    {!Concord.Condition.wait} for its mutex, then blocks the whole domain, but
    for a second at most. After that it raises the cancellation too, because the
    task may wait for another one of the same domain.

    {2 Limits}

    - Miou's tasks have no scopes that Concord could use. So
      {!Concord.Scope.run} and {!Concord.Tasks.all} run a [Concord_fifo] in the
      task. An operation of Miou's own in one of their tasks holds up the
      others.
    - Reports of {!Concord.Tools.Debug} do not tell Miou's tasks apart.
    - With further domains Miou 0.7.0 itself does not survive a signal handler
      that raises. If it raises while all tasks of the domain wait, {!run}
      raises the exception or [Miou.Cancelled], or does not return. So let a
      handler resume a task, and raise in that task.
    - Libraries that wait by [Domain_local_await] can do so in the tasks of the
      main domain. In tasks of [Miou.call] they block the domain.
    - When a task spawns a domain, Miou 0.7.0 forgets the tasks of the same
      domain that wait in [Miou_unix], for input or for time. Waits of Concord
      continue. A thread beside Miou should not spawn a domain, because Miou may
      end the program.
    - If the computation of a lazy value waits, and then raises
      [Miou.Cancelled], the next task computes it again. This happens even if
      the cancellation was that of another task, because after an operation of
      Miou's own Concord can't tell them apart. *)

(** {2 Running Miou} *)

val run : ?g:Random.State.t -> ?domains:int -> (unit -> 'a) -> 'a
(** [run f] is [Miou_unix.run f], except that its tasks can wait in Concord's
    structures.

    They may use [Miou_unix] as well. If you call [run] in a task of another
    host, it blocks the task's thread.

    - {b Cost} in each domain: a task, which wakes when another task is to be
      resumed, and a pipe, which later runs use again. When no other task of the
      domain is ready, this task may spin for up to 70 microseconds before the
      loop sleeps. Tasks that wait for input or time continue after that.
    - {b Raises} [e] if [f ()] raises [e], or Miou's exception if [f] broke a
      rule of Miou's, such as [Miou.Still_has_children].
    - {b Raises} [Invalid_argument] in another domain than the main one, where
      Miou cannot run, and in a task of another [run]. *)

(** {2 Promises} *)

val of_computation : 'a Miou.Computation.t -> 'a Concord.Promise.t
(** [of_computation c] is a promise of the value that [c] returns.

    If [c] is cancelled, the promise fails with the same exception and
    backtrace. Tasks of every host can wait for the promise, and use it in
    choices.

    This is the only structure of Miou's that can be shared with other hosts.
    Its mutexes, conditions and lazy values suspend its own tasks only, and
    [Miou.await] is for a task's parent.

    - {b Suspends} never, so you can call it anywhere.
    - {b Cost}: O(1). As long as [c] runs, it keeps the promise alive. *)
