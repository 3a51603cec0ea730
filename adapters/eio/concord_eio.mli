(** Concord's plug-in for Eio. It works as soon as it is linked, and converts
    promises between Eio and Concord.

    {b Stability}: experimental, because it uses private parts of Eio
    ([Eio.Private]). The functions below are stable, but a new release of Eio
    may need a new release of this library.

    Without this library Concord's operations work in Eio fibers too, through
    [Domain_local_await]. With it they are faster, and {!Concord.Tasks.protect}
    protects a fiber from cancellation. To enable it, add [concord-eio] to
    [libraries] in your dune file. You don't need to call or open anything,
    because the linker keeps all of the library.

    {[
      # Eio_main.run (fun _ ->
          let box = Concord.Mvar.create_empty () in
          let domain = Domain.spawn (fun () -> Concord.Mvar.put box "another domain") in
          let sender = Concord.Mvar.take box in
          Domain.join domain;
          sender)
      - : string = "another domain"
    ]}

    See also the page on {{!/concord/eio}Eio}. *)

(** {2 Promises}

    A fiber can await Concord's promises as they are. If you create a promise
    that tasks of other libraries await, you can make it one of Concord's from
    the start. The functions below are for code that needs one of Eio's
    promises, or has got one. They carry exceptions over, but Eio's promises
    keep no backtrace. *)

val to_eio : 'a Concord.Promise.t -> 'a Eio.Promise.or_exn
(** [to_eio t] is a promise of Eio that is resolved with the outcome of [t].
    [Eio.Promise.await_exn] waits for it, and raises the exception if [t]
    failed.

    {[
      # Eio_main.run (fun _ ->
          let answer = Concord.Promise.in_thread (fun () -> 6 * 7) in
          Eio.Promise.await_exn (Concord_eio.to_eio answer))
      - : int = 42
    ]}

    - {b Suspends} never. You can call it anywhere, and [t] can be resolved
      anywhere.
    - {b Cost}: O(1). Until [t] is resolved, it keeps the promise of Eio alive.
*)

val of_eio : sw:Eio.Switch.t -> 'a Eio.Promise.t -> 'a Concord.Promise.t
(** [of_eio ~sw p] is a promise of Concord that is filled when [p] is resolved,
    so that tasks of any host can wait for it. Call it in a fiber, on the domain
    of [sw].

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

    Only a fiber can wait for [p], so [of_eio] forks a daemon of [sw], unless
    [p] is already resolved. The daemon doesn't keep [sw] from ending. If [sw]
    ends first, the promise fails with the daemon's [Eio.Cancel.Cancelled].

    - {b Suspends} like [Eio.Fiber.fork]: the caller continues in its next turn.
    - {b Cost}: that of a fiber.
    - {b Raises} [e] if [sw] was cancelled with [e]. *)

val of_eio_exn :
  sw:Eio.Switch.t -> 'a Eio.Promise.or_exn -> 'a Concord.Promise.t
(** [of_eio_exn ~sw p] is {!of_eio}, except that the promise fails if [p] is
    resolved with an error. For example,
    [of_eio_exn ~sw (Eio.Fiber.fork_promise ~sw f)] is the result of a fiber. *)
