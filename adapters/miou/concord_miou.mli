(** Concord's structures for Miou. Miou tasks can wait in them together with the
    tasks of every other host, in any domain.

    {b Stability}: experimental, because Miou itself is at version 0.

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
    enough, but you don't need to call anything else, because every Concord
    operation works in tasks of [Miou.async] and [Miou.call]. If a program links
    this library but starts Miou in another way, an operation raises
    [Invalid_argument] if it has to wait, even if the program doesn't name the
    library. Miou is not patched.

    See also {{!/concord/miou}Concord for those who know Miou}.

    {2 Rules for all operations}

    - {b Suspends} the task. The domain's other tasks continue, even if the
      operation no longer has to wait.
    - {b Cancelled} by [Miou.cancel] while it waits, an operation has changed
      nothing, and raises [Miou.Cancelled]. If the operation was performed
      before, it returns. See below for what the task can still do.
    - {b Order}: as in the structure. A task is resumed in a turn of another
      task, the {e porter}. Each domain has one porter.
    - {b Handlers} of signals, finalisers and threads beside Miou may resume its
      tasks, at any moment.

    {2 After the cancellation}

    Miou drops a cancelled task at the task's next effect, such as [Miou.yield].
    None of its code runs afterwards, not even its exception handlers. This is
    Miou's design. But Concord's operations perform no effect in such a task, so
    clean-up code made of them runs to its end. Operations that need not wait
    are performed, and operations that have to wait raise the cancellation
    again. (This holds if the task was cancelled in one of Concord's operations,
    because otherwise they don't know about the cancellation.)

    A wait in {!Concord.Tasks.protect}, for example {!Concord.Condition.wait}'s
    for its mutex, then blocks the whole domain, but for a second at most.
    Afterwards it raises the cancellation too, because the task may wait for
    another one of the same domain.

    {2 Limits}

    - Miou's tasks have no scopes for Concord to use. {!Concord.Scope.run} and
      {!Concord.Tasks.all} therefore run a [Concord_fifo] in the task. One of
      Miou's own operations in such a task holds up the others.
    - Reports of {!Concord.Tools.Debug} do not tell Miou's tasks apart.
    - With further domains Miou 0.7.0 itself doesn't survive a raising signal
      handler. If it raises while all tasks of the domain wait, {!run} raises
      the exception or [Miou.Cancelled], or does not return. Let a handler
      resume a task, and raise in the task.
    - Libraries waiting through [Domain_local_await] can do so in the tasks of
      the main domain. In tasks of [Miou.call] they block the domain.
    - When a task spawns a domain, Miou 0.7.0 forgets tasks of the same domain
      if they wait in [Miou_unix], for input or for time. Concord's waits
      continue. A thread beside Miou should not spawn a domain, because Miou may
      end the program.
    - If the computation of a lazy value waits, and then raises
      [Miou.Cancelled], the next task computes it again. This happens even if
      another task was cancelled, because after one of Miou's own operations
      Concord can't tell them apart. *)

(** {2 Running Miou} *)

val run : ?g:Random.State.t -> ?domains:int -> (unit -> 'a) -> 'a
(** [run f] is [Miou_unix.run f], except that its tasks can wait in Concord's
    structures.

    They may use [Miou_unix] as well. If you call [run] in a task of another
    host, it blocks the task's thread.

    - {b Cost} in each domain: a task, which wakes when another task is to be
      resumed, and a pipe, which later runs use again. When no other task of the
      domain is ready, this task may spin for up to 70 microseconds before the
      loop sleeps. Tasks waiting for input or time continue afterwards.
    - {b Raises} [e] if [f ()] raises [e], or Miou's exception if [f] broke one
      of Miou's rules, such as [Miou.Still_has_children].
    - {b Raises} [Invalid_argument] in another domain than the main one, where
      Miou cannot run, and in a task of another [run]. *)

(** {2 Promises} *)

val of_computation : 'a Miou.Computation.t -> 'a Concord.Promise.t
(** [of_computation c] is a promise for the value of [c].

    If [c] is cancelled, the promise fails with the same exception and
    backtrace. Tasks of every host can wait for the promise, and use it in
    choices.

    This is the only Miou structure other hosts can share. Its mutexes,
    conditions and lazy values suspend its own tasks only, and [Miou.await] is
    for a task's parent.

    - {b Suspends} never, so you can call it anywhere.
    - {b Cost}: O(1). As long as [c] runs, it keeps the promise alive. *)
