(** Tasks of Miou wait in Concord's structures, together with the tasks of every
    other host, in any domain.

    {b Stability}: experimental, may change in any release.

    {v
    let () =
      Concord_miou.run @@ fun () ->
      let box = Concord.Mvar.create_empty () in
      let domain = Domain.spawn (fun () -> Concord.Mvar.put box "a domain") in
      let task = Miou.async (fun () -> print_endline (Concord.Mvar.take box)) in
      Miou.await_exn task;
      Domain.join domain
    v}

    Miou is not patched. It has to run by {!run}. There nothing else is to be
    called: every operation of Concord works in tasks of [Miou.async] and
    [Miou.call]. Linking this library is not enough. But if a program that links
    it runs Miou otherwise, an operation that has to wait raises
    [Invalid_argument], even if the program doesn't name the library.

    {2 What holds for all operations}

    - {b Suspends} the task; the domain's other tasks go on. An operation that
      has to wait lets them go on even if it need not wait any more.
    - {b Cancelled} by [Miou.cancel] while it waits: the operation has changed
      nothing, and raises what Miou raises, [Miou.Cancelled]. If the operation
      was performed before, it returns; see below for what the task can still
      do.
    - {b Order}: that of the structure; a task is resumed in a turn of a further
      task, the {e porter}, of which each domain has one.
    - {b Signal handlers}, finalisers and threads beside Miou may resume its
      tasks, at any moment.

    {2 After the cancellation}

    A task that was cancelled is dropped by Miou at the next effect that it
    performs, such as [Miou.yield]: nothing of it is run after that, not even
    its handlers of exceptions. This is Miou's design. Operations of Concord
    perform no effect in such a task, so that clean-ups made of them are run to
    their end: what need not wait is done, and what has to wait raises the
    cancellation again. (They know of the cancellation if it was one of them
    that was cancelled.)

    A wait in {!Concord.Tasks.protect}, as that of a {!Concord.Condition.wait}
    for its mutex, blocks the whole domain there, for a second at most. Then it
    raises the cancellation too: the task may wait for another one of the same
    domain.

    {2 Limits}

    - Miou's tasks have no scopes of which Concord knew: {!Concord.Scope.run}
      and {!Concord.Tasks.all} run a [Concord_fifo] in the task. An operation of
      Miou's own in one of their tasks holds up the others.
    - Reports of {!Concord.Tools.Debug} do not tell Miou's tasks apart.
    - What a signal handler raises is raised by the wait that it interrupts, by
      the next one on the thread if that wait was decided, or by {!run}. (In the
      code of [Miou.await_first] Miou 0.7.0 makes an [Assert_failure] of it.)
      With further domains Miou 0.7.0 itself does not survive such a handler.
      One that raises while all tasks of the domain wait strikes no task, but
      the loop: {!run} then raises the exception or [Miou.Cancelled], or does
      not return. So let a handler resume a task, and that one raise.
    - Libraries that wait by [Domain_local_await] can do so in the tasks of the
      main domain; in those of [Miou.call] they block the domain.
    - When a domain is spawned, Miou 0.7.0 forgets what waits in [Miou_unix],
      for input or for time, in the domain that spawns. Waits of Concord go on,
      if it is a task that spawns; a thread beside Miou should not, as Miou may
      end the program.
    - A lazy value whose computation waits, and then raises [Miou.Cancelled], is
      computed again by the next task, also if that was the cancellation of
      another one: after an operation of Miou's own it is not known which. *)

val run : ?g:Random.State.t -> ?domains:int -> (unit -> 'a) -> 'a
(** [run f] is [Miou_unix.run f], in which tasks can wait in Concord's
    structures; those of [Miou_unix] may be used as well. It may be called in a
    task of another host, whose thread it blocks.

    - {b Cost} in each domain: a task, which wakes when another one is to be
      resumed, and a pipe, which later runs use again. When no other task of the
      domain is ready, that task may look for up to ten microseconds whether
      another domain resumes one, before the loop sleeps: tasks that wait for
      input or time go on after it.
    - {b Raises} [e] if [f ()] raises [e], or what Miou raises if [f] broke a
      rule of Miou's, such as [Miou.Still_has_children].
    - {b Raises} [Invalid_argument] in another domain than the main one, where
      Miou cannot run, and in a task of another [run]. *)

val of_computation : 'a Miou.Computation.t -> 'a Concord.Promise.t
(** [of_computation c] is a promise of what [c] returns: it fails with that with
    which [c] is cancelled, and with its backtrace. Tasks of every host can wait
    for the promise, also in choices. May be called anywhere.

    Of Miou's own structures this is the one that others can share: the tasks
    that wait in its mutexes, conditions and lazy values have to be its own, and
    [Miou.await] is for a task's parent.

    Does not suspend; O(1). As long as [c] runs, it keeps the promise. *)
