(** Promise: a value that will be there later; tasks of any host can wait for
    it.

    {b Stability}: stable.

    Also called an IVar. A promise is filled, or fails, at most once, and stays
    so. (Section 3.3 of "Effectively Composing Concurrency Libraries".)

    An operation without a {b Suspends} line never suspends and needs no running
    scheduler: without a {b Cost} line it is O(1). It can be called from a
    signal handler, a finaliser or any callback, and is safe from any domain and
    thread. (OCaml runs no signal handler while all threads of a domain are
    parked, as in {!await} in a plain thread: a handler can resume tasks of Eio,
    not the thread it must run in. {!Concord.Signal.once} gives a promise of a
    signal that works there too.)

    {[
      # let p : int Promise.t = Promise.create ()
      val p : int Promise.t = <abstr>
      # let waiter = Thread.create (fun () -> print_int (Promise.await p)) ()
      val waiter : Thread.t = <abstr>
      # Promise.fill p 42; Thread.join waiter
      42
      - : unit = ()
    ]} *)

type 'a t
(** A promise of a value of type ['a]. *)

exception Already_filled
(** The promise was filled or had failed before. Its printer names the promise
    that raised it last in the thread that prints, if that has a name or was
    made while waits are kept. *)

val create : ?name:string -> unit -> 'a t
(** A promise that is neither filled nor failed. [name] is for reports and for
    the printer of {!Already_filled}. *)

val of_value : 'a -> 'a t
(** A promise that is filled from the start. *)

val fill : 'a t -> 'a -> unit
(** [fill t v] fills [t] with [v] and resumes the tasks that wait for it.

    - {b Order}: waiters are resumed in the order of their arrival.
    - {b Cost}: O(number of waiters).

    @raise Already_filled if [t] is filled or failed. *)

val try_fill : 'a t -> 'a -> bool
(** As {!fill}, but [false] if [t] is filled or failed. *)

val fail : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> unit
(** [fail t e] makes every {!await} of [t] raise [e], with [backtrace] (by
    default that of the exception that was raised last, as in a [with] branch).

    - {b Order}, {b Cost}: as {!fill}.

    @raise Already_filled if [t] is filled or failed. *)

val try_fail : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> bool
(** As {!fail}, but [false] if [t] is filled or failed. *)

val resolve :
  ?backtrace:Printexc.raw_backtrace -> 'a t -> ('a, exn) result -> unit
(** [resolve t (Ok v)] is {!fill}, [resolve t (Error e)] is {!fail}.

    @raise Already_filled if [t] is filled or failed. *)

val try_resolve :
  ?backtrace:Printexc.raw_backtrace -> 'a t -> ('a, exn) result -> bool
(** As {!resolve}, but [false] if [t] is filled or failed. *)

val await : 'a t -> 'a
(** [await t] is the value of [t].

    - {b Suspends} while [t] is neither filled nor failed.
    - {b Cancelled} while suspended: the waiter is withdrawn from [t] and the
      host's exception is raised.
    - {b Order}: waiters are resumed in the order of their arrival.
    - {b Cost}: O(1), also to withdraw (amortised); allocates only to suspend.
    - {b Raises} [e] if [t] failed with [e], with the backtrace given there. *)

val await_evt : 'a t -> 'a Event.t
(** The event of {!await}. Performing it raises [e] if [t] failed with [e]. *)

val await_result : 'a t -> ('a, exn) result
(** [await_result t] is the outcome of [t]: a failure is a value here. As
    {!await} in all else; a cancellation raises the host's exception. *)

val await_result_evt : 'a t -> ('a, exn) result Event.t
(** The event of {!await_result}. *)

val peek : 'a t -> ('a, exn) result option
(** [peek t] is the outcome of [t], or [None] as long as [t] is neither filled
    nor failed. *)

val is_resolved : 'a t -> bool
(** [is_resolved t] is [peek t <> None], without allocation. *)

val waiters : 'a t -> int
(** How many wait, tasks and functions of {!on_resolve}, for tests and
    diagnosis. A task that was cancelled counts until it is unwound. *)

(** {1 Functions that are called when a promise is resolved}

    Such a function runs in whatever resolves the promise: in that task, thread
    or signal handler, inside its call of {!fill}, {!fail} and the like. If the
    promise is resolved already, the function runs at once, in the caller.

    - It {b may not suspend}: an operation of this library that has to wait
      raises [Invalid_argument] in it. It should be short, as it delays those
      who wait behind it.
    - It performs {b no effects}, as nobody can say whose handlers would be
      around it: no effect leaves the function, which runs as if in a thread
      without a scheduler. So what forks, yields or asks for the calling task
      ([Concord_fifo.fork], [Eio.Fiber.yield]) raises [Invalid_argument] too, on
      whatever host, and a handler of yours is not reached. To do such a thing,
      fork a task that awaits the promise.
    - {b If it raises}, all others are resumed and called nevertheless; then the
      call that resolved the promise raises the exception, although the promise
      is resolved. Of several exceptions one is raised.
    - {b Order}: such functions and the tasks that wait have their turn in the
      order of their arrival.
    - {b Memory}: the promise keeps the function until it is resolved, and no
      longer. *)

val on_resolve : 'a t -> (('a, exn) result -> unit) -> unit
(** [on_resolve t f] calls [f] once, with the outcome of [t], when [t] is
    resolved: never, if that never happens. In [f], {!await} of [t] does not
    wait, and raises a failure with its backtrace.

    A chain in which each function resolves the next promise, by {!map} or by
    hand, takes O(n{^ 2}) time for [n] promises. The page "Limits" has figures.

    {[
      # let p = Promise.create () in
        Promise.on_resolve p (function
          | Ok n -> print_int n
          | Error e -> print_string (Printexc.to_string e));
        Promise.fill p 42
      42
      - : unit = ()
    ]} *)

val on_resolve_cancellable : 'a t -> (('a, exn) result -> unit) -> unit -> bool
(** [on_resolve_cancellable t f] is as {!on_resolve}, and gives a function that
    withdraws [f]: [true] if [f] was not called; it then never is, and [t] does
    not keep it. [false] if [f] was called, is being called, or was withdrawn
    before. The function can be called anywhere; O(1), amortised.

    {[
      # let p = Promise.create () in
        let withdraw = Promise.on_resolve_cancellable p (fun _ -> print_string "called") in
        let withdrawn = withdraw () in
        Promise.fill p ();
        (withdrawn, withdraw ())
      - : bool * bool = (true, false)
    ]} *)

(** {1 Promises of promises}

    Each of these gives a new promise, which is resolved where and when the
    others are: see above. No task is needed. None of these functions suspends.

    A failure keeps its backtrace. A source that is never resolved does no harm
    but that the new promise may never be resolved either. As soon as this one
    is resolved, the other sources keep nothing of it; so a promise that lives
    long can be a source again and again.

    {b Nothing is cancelled}: a promise does not know who is going to resolve
    it, and the sources that were not waited for are resolved later all the
    same. To run functions and cancel those that are not needed any more, use
    {!Concord.Tasks.both}, [all], [any]. To wait for the first promise that is
    resolved, whether filled or failed, use {!Concord.Event.select} with
    {!await_evt}. *)

val map : ('a -> 'b) -> 'a t -> 'b t
(** [map f t] is a promise of [f v], for the value [v] of [t]. It fails as [t]
    does, or with what [f v] raises. [f] is called once, may neither suspend nor
    perform effects, as above, and is called also if nobody waits for the new
    promise.

    {[
      # Promise.await (Promise.map String.length (Promise.of_value "seven"))
      - : int = 5
    ]} *)

val both : 'a t -> 'b t -> ('a * 'b) t
(** [both a b] is a promise of both values. It fails as soon as one of them
    does, with the failure that comes first. *)

val all : 'a t list -> 'a list t
(** [all ts] is a promise of all values, in the order of the list. It fails as
    soon as one of them does, with the failure that comes first. [all []] is
    filled. O(n) for [n] promises.

    {[
      # let ps = List.init 3 (fun _ -> Promise.create ()) in
        let all = Promise.all ps in
        List.iteri (fun i p -> Promise.fill p (10 * i)) ps;
        Promise.await all
      - : int list = [0; 10; 20]
    ]} *)

val any : 'a t list -> 'a t
(** [any ts] is a promise of the value of the first that is {e filled}. It fails
    only when all of them have failed, with the failure that came first. Of
    those that are filled from the start, the first in the list counts. O(n) for
    [n] promises.

    {[
      # let replicas = List.init 3 (fun _ -> Promise.create ()) in
        let answer = Promise.any replicas in
        Promise.fail (List.nth replicas 0) Exit;
        Promise.fill (List.nth replicas 2) "third";
        Promise.await answer
      - : string = "third"
    ]}
    - {b Raises} [Invalid_argument] if [ts] is empty. *)

val to_result : 'a t -> ('a, exn) result t
(** [to_result t] is a promise of the outcome of [t], which does not fail. *)

(** {1 Threads and domains} *)

val in_thread : (unit -> 'a) -> 'a t
(** [in_thread f] runs [f] in a new system thread of the calling domain. The
    promise is filled with its result, or fails with the exception that it
    raised, with its backtrace. The end of the program does not wait for the
    thread.

    It is for what blocks a thread, and would stop the host of the caller:

    {[
      # let domain = Domain.spawn (fun () -> 6 * 7) in
        Concord_fifo.run (fun () ->
          Promise.await (Promise.in_thread (fun () -> Domain.join domain)))
      - : int = 42
    ]}

    So the end of a domain or thread that others have started takes a thread
    that waits for it: the runtime can tell it in no other way. To start them by
    these functions takes none.

    - {b Signals}: [f] runs with the signal mask of the caller. A handler that
      raises in the new thread interrupts [f], and the promise fails with what
      it raised, also if [f] had not begun or had just returned. If one raises
      in the caller, so does [in_thread], and [f] may run nevertheless.
    - {b Cost}: that of a thread.
    - {b Raises} [Failure] or [Sys_error], if no thread can be started. *)

val in_domain : (unit -> 'a) -> 'a t
(** As {!in_thread}, in a new domain: [f] runs in parallel. The domain need not
    be joined. A domain is expensive, there can be 128 of them, and more than
    there are cores slow all of them down: for many short functions use a pool
    ([Concord_domainslib.submit]). What a function of {!on_resolve} raises in it
    is dropped.

    {[
      # Promise.await (Promise.in_domain (fun () -> 6 * 7))
      - : int = 42
    ]}
    - {b Raises} [Failure] if no domain can be started. *)

(**/**)

(** For [Concord_fifo] only. *)

val fail_waiters : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> int
(** As {!fail}, and returns how many waited: tasks, and functions of
    {!on_resolve}. All of them have the exception now, but for tasks that were
    cancelled and not yet unwound: these find it by {!peek}. A task that chose
    another alternative did not wait.

    @raise Already_filled if [t] is filled or failed. *)
