(** Concord's plug-in for Eio, which works by being linked: there is nothing to
    call. And conversions of promises.

    {b Stability}: experimental, because it uses private parts of Eio
    ([Eio.Private]). The functions below are stable, but a new release of Eio
    may need a new release of this library.

    Without it Concord's operations work in Eio fibers too, through
    [Domain_local_await]. With it they are faster, and {!Concord.Tasks.protect}
    protects a fiber from cancellation. (For the linker to keep the library, its
    dune stanza asks for all of it; no [open] is needed.) *)

(** {2 Promises}

    A fiber awaits Concord's promises as they are, and a promise that others are
    to await can be Concord's from the start. These functions are for code that
    wants, or has, one of Eio's. An exception is carried over; Eio's promises
    keep no backtrace. *)

val to_eio : 'a Concord.Promise.t -> 'a Eio.Promise.or_exn
(** [to_eio t] is a promise of Eio that is resolved when [t] is, with its
    outcome. It needs no fiber, and can be called anywhere; [t] can be resolved
    anywhere. [Eio.Promise.await_exn] then waits for it, and raises what [t]
    failed with.

    As long as [t] is not resolved, it keeps the promise of Eio. Does not
    suspend; O(1).

    {[
      # Eio_main.run (fun _ ->
          let answer = Concord.Promise.in_thread (fun () -> 6 * 7) in
          Eio.Promise.await_exn (Concord_eio.to_eio answer))
      - : int = 42
    ]} *)

val of_eio : sw:Eio.Switch.t -> 'a Eio.Promise.t -> 'a Concord.Promise.t
(** [of_eio ~sw p] is a promise that is filled when [p] is resolved: tasks of
    any host can wait for it. Only a fiber can wait for [p], so [of_eio] forks a
    daemon of [sw], unless [p] is resolved. If [sw] ends first, then the promise
    fails, with the [Eio.Cancel.Cancelled] of that fiber: it does not keep [sw]
    from ending.

    Called in a fiber, on the domain of [sw].

    {[
      # Eio_main.run (fun _ ->
          Eio.Switch.run (fun sw ->
            let p, resolver = Eio.Promise.create () in
            let promise = Concord_eio.of_eio ~sw p in
            let domain = Domain.spawn (fun () -> Concord.Promise.await promise) in
            Eio.Promise.resolve resolver 42;
            Concord.Promise.await (Concord.Promise.in_thread (fun () -> Domain.join domain))))
      - : int = 42
    ]}

    - {b Suspends} as [Eio.Fiber.fork]: the caller goes on in its next turn.
    - {b Cost}: that of a fiber.
    - {b Raises} [e] if [sw] was cancelled. *)

val of_eio_exn :
  sw:Eio.Switch.t -> 'a Eio.Promise.or_exn -> 'a Concord.Promise.t
(** As {!of_eio}; the promise fails if that of Eio is resolved with an error. So
    [of_eio_exn ~sw (Eio.Fiber.fork_promise ~sw f)] is the result of a fiber. *)
