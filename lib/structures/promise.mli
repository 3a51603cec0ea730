(** A value that is available later, for tasks of any host to wait for.

    {b Stability}: stable.

    Use a promise to pass one value, or one failure, from the task computing it
    to all tasks that need it. Other libraries call it an IVar. A promise is
    filled or failed at most once, and then stays so. For example, a thread
    waits here for a value from the main thread:

    {[
      # let p : int Promise.t = Promise.create ()
      val p : int Promise.t = <abstr>
      # let waiter = Thread.create (fun () -> print_int (Promise.await p)) ()
      val waiter : Thread.t = <abstr>
      # Promise.fill p 42; Thread.join waiter
      42
      - : unit = ()
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    Promises are described in section 3.3 of "Effectively Composing Concurrency
    Libraries". See also the pages on {{!/concord/eio}Eio},
    {{!/concord/lwt}Lwt}, {{!/concord/async}Async} and {{!/concord/picos}Picos}.
*)

type 'a t
(** A promise of a value of type ['a]. *)

exception Already_filled
(** The promise was already filled or failed.

    When printed, the exception names the promise that raised it most recently
    in the printing thread. The promise has to have a name, or to be created
    while waits are kept ({!Concord.Tools.Debug.keep_waits}). *)

(** {1 Creating and resolving} *)

val create : ?name:string -> unit -> 'a t
(** [create ()] returns a promise that is neither filled nor failed. Reports and
    the printer of {!Already_filled} call it by its [name]. *)

val of_value : 'a -> 'a t
(** [of_value v] returns a promise filled with [v] from the start. *)

val fill : 'a t -> 'a -> unit
(** [fill t v] fills [t] with [v] and resumes all waiting tasks, in the order in
    which they arrived.

    - {b Raises} {!Already_filled} if [t] is filled or failed. *)

val try_fill : 'a t -> 'a -> bool
(** [try_fill t v] does the same as {!fill}, but returns [false] if [t] is
    already filled or failed. *)

val fail : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> unit
(** [fail t e] makes every {!await} of [t] raise [e] with [backtrace], and
    resumes all waiting tasks, in the order in which they arrived.

    By default, it is the backtrace of the most recently raised exception. In a
    [with] branch you don't need to pass it.

    - {b Raises} {!Already_filled} if [t] is filled or failed. *)

val try_fail : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> bool
(** [try_fail t e] does the same as {!fail}, but returns [false] if [t] is
    already filled or failed. *)

val resolve :
  ?backtrace:Printexc.raw_backtrace -> 'a t -> ('a, exn) result -> unit
(** [resolve t (Ok v)] is [fill t v], and [resolve t (Error e)] is [fail t e].

    - {b Raises} {!Already_filled} if [t] is filled or failed. *)

val try_resolve :
  ?backtrace:Printexc.raw_backtrace -> 'a t -> ('a, exn) result -> bool
(** [try_resolve t result] does the same as {!resolve}, but returns [false] if
    [t] is already filled or failed. *)

(** {1 Waiting} *)

val await : 'a t -> 'a
(** [await t] waits until [t] is resolved, and returns its value. Waiting tasks
    are resumed in the order in which they arrived.

    - {b Suspends} while [t] is neither filled nor failed.
    - {b Raises} [e] if [t] failed with [e], with the backtrace given to
      {!fail}. *)

val await_evt : 'a t -> 'a Event.t
(** [await_evt t] is the event of {!await}. Performing it raises [e] if [t]
    failed with [e]. *)

val await_result : 'a t -> ('a, exn) result
(** [await_result t] does the same as {!await}, but returns [Error e] instead of
    raising [e] if [t] failed with [e].

    - {b Suspends} while [t] is neither filled nor failed. *)

val await_result_evt : 'a t -> ('a, exn) result Event.t
(** [await_result_evt t] is the event of {!await_result}. *)

val peek : 'a t -> ('a, exn) result option
(** [peek t] returns the outcome of [t], or [None] if [t] is neither filled nor
    failed yet. *)

val is_resolved : 'a t -> bool
(** [is_resolved t] is [peek t <> None], but it allocates nothing. *)

val waiters : 'a t -> int
(** [waiters t] counts the waiting tasks and the functions of {!on_resolve}, for
    tests and diagnosis. *)

(** {1 Calling a function when a promise is resolved}

    {!on_resolve} and its variants register a function. The function runs in the
    resolving task or thread, inside its call of {!fill} or {!fail}. If the
    promise is already resolved, the function runs at once, in the caller.

    - {b It must not suspend.} If an operation of this library has to wait
      there, it raises [Invalid_argument]. Keep the function short, because it
      delays the tasks behind it.
    - {b It must perform no effects}, because the handlers around it would
      depend on the code that resolves the promise. To make sure of this, no
      effect leaves the function. It runs as if in a thread without a scheduler,
      and doesn't reach your own handlers either. On every host, operations to
      fork, to yield or to ask for the calling task raise [Invalid_argument].
      Examples are [Concord_fifo.fork] and [Eio.Fiber.yield]. Instead, fork a
      task to await the promise.
    - {b If it raises}, the other tasks are still resumed, and the other
      functions are still called. The resolving call then raises the exception,
      but the promise stays resolved. If several functions raise, one of their
      exceptions is raised.
    - {b Order}: functions and waiting tasks share one queue, and run in the
      order in which they arrived.
    - {b Memory}: the promise refers to the function only until it is resolved.
*)

val on_resolve : 'a t -> (('a, exn) result -> unit) -> unit
(** [on_resolve t f] calls [f] once with the outcome of [t], when [t] is
    resolved.

    If [t] is never resolved, [f] is never called. In [f], {!await} of [t]
    doesn't wait, and it raises a failure with its backtrace.

    {[
      # let p = Promise.create () in
        Promise.on_resolve p (function
          | Ok n -> print_int n
          | Error e -> print_string (Printexc.to_string e));
        Promise.fill p 42
      42
      - : unit = ()
    ]}

    A chain of [n] promises takes O(n{^ 2}) time if each function resolves the
    next promise, by {!map} or by hand. {{!/concord/limits}Limits} has figures.
*)

val on_resolve_cancellable : 'a t -> (('a, exn) result -> unit) -> unit -> bool
(** [on_resolve_cancellable t f] does the same as {!on_resolve}, and returns a
    function to withdraw [f].

    The returned function gives [true] if it withdrew [f] in time. Then [f] is
    never called, and [t] no longer refers to it. It returns [false] if [f] was
    called, is being called, or was withdrawn before. You can call it anywhere,
    and it takes amortised O(1) time.

    {[
      # let p = Promise.create () in
        let withdraw = Promise.on_resolve_cancellable p (fun _ -> print_string "called") in
        let withdrawn = withdraw () in
        Promise.fill p ();
        (withdrawn, withdraw ())
      - : bool * bool = (true, false)
    ]} *)

(** {1 Combining promises}

    Each of these functions returns a new promise. It is resolved inside the
    call of {!fill} or {!fail} that decides its outcome, so no task is needed.
    None of these functions suspends.

    {b Nothing is cancelled}, because a promise doesn't know which task will
    resolve it. Promises that turn out not to be needed are resolved later all
    the same. To run functions, and to cancel those no longer needed, use
    [both], [all] or [any] of {!Concord.Tasks}. For the first promise to be
    resolved, even if it failed, use {!Concord.Event.select} with {!await_evt}.

    A failure keeps its backtrace. If one source is never resolved, the only
    harm is that the new promise may never be resolved either. Once the new
    promise is resolved, the other sources no longer refer to it. You can
    therefore use a long-lived promise as a source again and again. *)

val map : ('a -> 'b) -> 'a t -> 'b t
(** [map f t] is a promise of [f v], where [v] is the value of [t].

    It fails if [t] fails, or if [f v] raises. [f] is called once, even if no
    task waits for the new promise. It must neither suspend nor perform effects,
    as the functions above.

    {[
      # Promise.await (Promise.map String.length (Promise.of_value "seven"))
      - : int = 5
    ]} *)

val both : 'a t -> 'b t -> ('a * 'b) t
(** [both a b] is a promise of both values. It fails as soon as [a] or [b]
    fails, with the first failure. *)

val all : 'a t list -> 'a list t
(** [all ts] is a promise of all values, in the order of the list.

    It fails as soon as one promise fails, with the first failure. [all []] is
    filled.

    - {b Cost}: O(n) for [n] promises.

    {[
      # let ps = List.init 3 (fun _ -> Promise.create ()) in
        let all = Promise.all ps in
        List.iteri (fun i p -> Promise.fill p (10 * i)) ps;
        Promise.await all
      - : int list = [0; 10; 20]
    ]} *)

val first_filled : 'a t list -> 'a t
(** [first_filled ts] is a promise for the value of the first promise to be
    {e filled}.

    It fails only if all of them fail, with the first failure. If several are
    already filled, the first one in the list counts. (JavaScript calls this
    [any]. Here {!Concord.Tasks.any} is as in Eio: the first function that
    returns {e or raises} decides.)

    - {b Cost}: O(n) for [n] promises.
    - {b Raises} [Invalid_argument] if [ts] is empty.

    {[
      # let replicas = List.init 3 (fun _ -> Promise.create ()) in
        let answer = Promise.first_filled replicas in
        Promise.fail (List.nth replicas 0) Exit;
        Promise.fill (List.nth replicas 2) "third";
        Promise.await answer
      - : string = "third"
    ]} *)

val to_result : 'a t -> ('a, exn) result t
(** [to_result t] is a promise of the outcome of [t]. It never fails. *)

(** {1 Threads and domains} *)

val in_thread : (unit -> 'a) -> 'a t
(** [in_thread f] runs [f] in a new system thread of the calling domain, and
    returns a promise of its result.

    If [f] raises, the promise fails with its exception and backtrace. The
    program doesn't wait for the thread when it exits.

    Use it for a loop or a long wait. {!Concord.Blocking.run} is cheaper for
    calls blocking a thread for a while, because its threads are reused.

    {[
      # let domain = Domain.spawn (fun () -> 6 * 7) in
        Concord_fifo.run (fun () ->
          Promise.await (Promise.in_thread (fun () -> Domain.join domain)))
      - : int = 42
    ]}

    As the example shows, waiting for the end of a domain or thread started by
    other code costs a thread, because the runtime reports the end in no other
    way. If you start it with [in_thread] or {!in_domain}, no further thread is
    needed.

    - {b Signals}: [f] runs with the caller's signal mask. If a signal handler
      raises in the new thread, the promise fails with its exception.
    - {b Cost}: a thread.
    - {b Raises} [Failure] or [Sys_error] if no thread can be started. *)

val in_domain : (unit -> 'a) -> 'a t
(** [in_domain f] does the same as {!in_thread} in a new domain, where [f] runs
    in parallel.

    You don't need to join the domain. If a function of {!on_resolve} raises in
    it, the exception is dropped.

    Domains are expensive. There can be at most 128 of them, and if there are
    more domains than cores, all of them slow down. For many short functions,
    use {!Concord.Workers}.

    {[
      # Promise.await (Promise.in_domain (fun () -> 6 * 7))
      - : int = 42
    ]}

    - {b Raises} [Failure] if no domain can be started. *)

(**/**)

(** For [Concord_fifo] only. *)

val fail_waiters : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> int
(** [fail_waiters t e] does the same as {!fail}, and returns how many tasks and
    functions of {!on_resolve} waited.

    All of them get the exception now, except for tasks that were cancelled and
    aren't unwound yet. These tasks find it with {!peek}. A task that chose
    another alternative didn't wait.

    - {b Raises} {!Already_filled} if [t] is filled or failed. *)
