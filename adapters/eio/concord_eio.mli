(** Concord's plug-in for Eio. It works as soon as it is linked, and converts
    promises between Eio and Concord.

    {b Stability}: experimental, because it uses Eio's private parts
    ([Eio.Private]). The functions below are stable, but a new Eio release may
    need a new release of this library.

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
    for tasks of other libraries, you can make it a Concord promise from the
    start. The functions below are for code that needs an Eio promise, or has
    got one. They carry exceptions over, but Eio's promises keep no backtrace.
*)

val to_eio : 'a Concord.Promise.t -> 'a Eio.Promise.or_exn
(** [to_eio t] is an Eio promise, resolved with the outcome of [t].
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
    - {b Cost}: O(1). Until [t] is resolved, it keeps the Eio promise alive. *)

val of_eio : sw:Eio.Switch.t -> 'a Eio.Promise.t -> 'a Concord.Promise.t
(** [of_eio ~sw p] is a Concord promise, filled when [p] is resolved, for tasks
    of any host to wait for. Call it in a fiber, on the domain of [sw].

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
    - {b Cost}: a fiber.
    - {b Raises} [e] if [sw] was cancelled with [e]. *)

val of_eio_exn :
  sw:Eio.Switch.t -> 'a Eio.Promise.or_exn -> 'a Concord.Promise.t
(** [of_eio_exn ~sw p] is {!of_eio}, but the promise fails if [p] is resolved
    with an error. For example, [of_eio_exn ~sw (Eio.Fiber.fork_promise ~sw f)]
    is the result of a fiber. *)

(** {2 A loop on a domain of its own}

    With these functions, a program on another host can use a library written
    for Eio. They work like those of [Concord_lwt], but an Eio loop also has an
    environment and a switch. The page
    {{!/concord/lwt_eio}Lwt, and a library that exists for Eio only} begins with
    an example.

    {b Stability}: experimental, because few programs have used it. *)

exception No_loop
(** {!with_domain} ended before a {!call} could run, or while it ran. *)

type 'r loop
(** An Eio loop, with a value of type ['r] belonging to it. *)

val call : 'r loop -> ('r -> 'a) -> 'a
(** [call loop f] calls [f r] in a new fiber of [loop], where [r] is its value,
    and returns the result. Any task, thread or domain can call it, and so can
    fibers of [loop] itself.

    - {b Suspends} until [f r] has returned or raised.
    - {b Cancelled} while suspended, for example by a timeout, [call] makes sure
      that [f] is never called, if it wasn't called yet. Otherwise it cancels
      the fiber of [f], and waits until [f] has returned or raised, because [f]
      may still use what the caller gave to it. Afterwards [call] raises the
      host's exception. However, if [f] has returned by then, or raised another
      exception than [Eio.Cancel.Cancelled], nothing is dropped. This is the
      result of [call], and the host's exception is raised where the task waits
      next.
    - {b Order}. Functions are called in the order of the calls.
    - {b Cost}: O(1), and one suspension. It needs a system call only if the
      loop may sleep.
    - {b Raises} [e] if [f r] raises [e], with its backtrace.
    - {b Raises} {!No_loop} if the loop has ended, or ends before [f r] does. *)

val with_domain :
  ?grace:float ->
  (('env -> unit) -> unit) ->
  (sw:Eio.Switch.t -> 'env -> 'r) ->
  ('r loop -> 'a) ->
  'a
(** [with_domain Eio_main.run create f] starts a domain for Eio's loop, calls
    [create ~sw env] in a fiber there, and returns [f loop], where the value of
    [loop] is the result of [create].

    {[
      # let connect ~sw _env =
          Eio.Switch.on_release sw (fun () -> print_endline "closed");
          ref 0
        and add n total = Eio.Fiber.yield (); total := !total + n; !total in
        Concord_eio.with_domain Eio_main.run connect (fun total ->
            Concord.Tasks.map
              (fun n -> Concord_eio.call total (add n))
              [ 1; 1; 1 ])
      closed
      - : int list = [1; 2; 3]
    ]}

    {b The end} takes four steps when [f] has returned or raised.

    + [with_domain] waits up to [grace] seconds (by default 10) until no {!call}
      is left. Calls may still call. From then on, {!call} raises {!No_loop}.
    + The fibers of the remaining calls are cancelled, and have [grace] seconds
      again to unwind. Then their calls raise {!No_loop}.
    + [sw] fails, which cancels the fibers forked in it by [create], and
      releases its resources.
    + The domain is joined, unless a fiber of a call has not ended by now. In
      this case [with_domain] returns, and the domain ends when the fiber does.

    With [~grace:infinity] it waits for all calls. Fibers of [sw] with a
    deferred cancellation, and functions of [Eio.Switch.on_release], have no
    bound.

    - {b Suspends} the calling task only, whatever its host. It suspends until
      [create] has given its value, where [f] suspends, and until the domain is
      joined. A thread of the calling domain waits for the domain.
    - {b Cancelled} while [create] runs, it cancels the fiber of [create]. [f]
      is not called, and the host's exception is raised. If the task is
      cancelled later, [f] gets the host's exception where it waits. The end is
      {{!Concord.Tasks.protect}protected}.
    - {b Signals}. The domain has the caller's signal mask.
    - {b Cost}: a thread and a domain, which take about a millisecond.
    - {b Raises} [e] if [create] failed with [e], or [f] raised [e].
    - {b Raises} the exception that has ended the loop, for example of a fiber
      of [sw] or of a function of [Eio.Switch.on_release], if [f] returned. It
      also replaces a {!No_loop} raised by [f], because it is the reason.
    - {b Raises} [Invalid_argument] if [grace] is negative, or not a number. *)
