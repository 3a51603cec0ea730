(** Concord's structures for Lwt. Blocking operations return an Lwt promise,
    which tasks of any host can resolve, from any domain.

    {b Stability}: stable, but for {!call} and {!with_domain}, which are
    experimental, because few programs have used them.

    An Lwt promise belongs to one thread, and another domain can't resolve it.
    With this library it can:

    {[
      # let box : string Concord_lwt.Mvar.t = Concord_lwt.Mvar.create_empty ()
      val box : string Concord_lwt.Mvar.t = <abstr>
      # let domain =
          Domain.spawn (fun () ->
              Concord_fifo.run (fun () -> Concord.Mvar.put box "another domain"))
      val domain : unit Domain.t = <abstr>
      # Concord_lwt.run (fun () -> Concord_lwt.Mvar.take box)
      - : string = "another domain"
    ]}

    Lwt is not patched, and only the thread running its loop touches its state.
    Other threads put their requests into a queue, and wake the loop if it
    sleeps. Therefore, only the loop's thread can call the functions below that
    return an Lwt promise. While an Lwt loop runs, a function that has to wait
    raises [Invalid_argument] in another thread. Lwt has one loop at a time, but
    the next one may run in another thread. (Section 5 of "Effectively Composing
    Concurrency Libraries".)

    If your program uses direct-style operations of [Concord] only, add
    [concord-lwt] to [libraries] in your dune file. You don't need to call or
    open anything, because the linker keeps all of the library. Linking it adds
    a notification and hooks to Lwt's loop. Then direct-style operations suspend
    tasks of [Lwt_direct], and raise {!In_callback} in callbacks.

    See also {{!/concord/lwt}Concord for those who know Lwt}.

    {2 Rules for all operations}

    - {b Cancelled} by [Lwt.cancel] while its promise is pending, an operation
      fails with [Lwt.Canceled], and no other task loses its turn. This is so
      even if the operation was resumed just before, and its promise was to be
      resolved in the next turn. Then it is undone. A lock, a permit or a
      resource goes to the next task. A taken item comes first again, or goes to
      a waiting task. (Of several consumers, another one may have the item
      behind it by then.) As a result, [Lwt.pick] and [Lwt_unix.with_timeout]
      lose nothing. But an item already put, added or sent stays there. Some
      operations can't be undone, and have their value in spite of the
      cancellation. These are {!Mvar.swap}, {!Mvar.modify}, {!Barrier.await},
      {!Lazy.force}, {!Condition.loop_no_mutex}, {!Channel.receive} from a
      channel closed meanwhile, and a choice that was signalled and waits for
      the mutex of its [Condition.wait_evt].
    - {b Order} and {b cost} are the same as in Concord.
    - {b Turns}. An operation that need not wait returns a resolved promise.
      However, if Lwt's loop had no turn for 10 ms, and a hundred operations did
      not wait since, the operation begins in the next turn. Even if a task's
      operations never wait, it doesn't stop the loop, and can be cancelled.
    - {b Storage} of the sequence ([Lwt.key]) is the same before and after a
      wait. It is also kept for each task of {!Concord.Tasks}, {!Concord.Scope},
      {!Concord_fifo} and [Concord_policies] in an Lwt task. Such a task begins
      with the storage of the task that forked it.
    - {b Callbacks} of a promise are called by Lwt's loop, never by the thread
      resuming the operation. *)

val run : (unit -> 'a Lwt.t) -> 'a
(** [run f] is [Lwt_main.run (f ())], and also registers Lwt as the scheduler of
    its thread. Existing programs can keep [Lwt_main.run], because [run] differs
    in three points only:

    - Other libraries that wait through [Domain_local_await], such as Kcas,
      suspend an [Lwt_direct] task. In [Lwt_main.run] they freeze the loop.
    - An Eio loop may run in a {!direct} task.
    - Two of these loops at once are refused.

    In both, direct-style operations suspend [Lwt_direct] tasks, and an
    operation that has to wait in a plain Lwt callback raises {!In_callback}. In
    functions of [Lwt_main.at_exit], after a plain loop, it blocks the thread
    instead. It also raises in functions of Stdlib's [at_exit] if a callback has
    called [exit].

    If an operation still waits when [run] returns, it keeps its position in the
    structures, and may be given an item other tasks wait for too. It continues
    in the next loop.

    - {b Raises} [e] if the promise of [f ()] fails with [e], or [f] raises [e].
    - {b Raises} [Failure] if a [run] is running already. *)

exception In_callback
(** A direct-style operation had to wait in an Lwt callback, or in a signal
    handler or a finaliser in Lwt's loop.

    These can't wait. Use the operation of the same name in this module,
    {!direct}, or a task of [Lwt_direct]. If the computation of a lazy value
    gets this exception, the value has not failed. It is computed again where it
    is forced next. *)

val to_lwt : 'a Concord.Promise.t -> 'a Lwt.t
(** [to_lwt promise] is {!Promise.await}, as a conversion. It suspends, orders
    and costs the same.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop, and it
      has to wait. *)

val of_lwt : 'a Lwt.t -> 'a Concord.Promise.t
(** [of_lwt promise] is a Concord promise, which is filled, or fails, when the
    Lwt promise does.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop. *)

val to_lwt_stream : 'a Concord.Event.t -> 'a Lwt_stream.t
(** [to_lwt_stream event] is a stream, which performs [event], for example
    [Mailbox.take_evt mailbox], for each item that is read.

    It ends when [event] raises [Concord.Mailbox.Closed]. No item is taken
    before it is asked for. If a read is cancelled, its item goes to the next
    reader. If nothing reads the stream afterwards, the stream keeps this item.
*)

val feed : 'a Concord.Stream.t -> 'a Lwt_stream.t -> unit Lwt.t
(** [feed stream lwt_stream] adds the items of [lwt_stream] to [stream], and
    waits while [stream] is full.

    At the end it closes [stream]. Don't read [lwt_stream] while [feed] runs.

    {[
      # Concord_lwt.run (fun () ->
            let stream = Concord.Stream.create 1 in
            let fed =
              Concord_lwt.feed stream (Lwt_stream.of_list [ 1; 2; 3 ])
            in
            let domain =
              Domain.spawn (fun () ->
                  let first = Concord.Stream.take stream in
                  let second = Concord.Stream.take stream in
                  Concord.Stream.close stream;
                  (first, second))
            in
            Lwt.map (fun () -> Domain.join domain) fed)
      - : int * int = (1, 2)
    ]}

    - {b Suspends} while [stream] is full, or [lwt_stream] has nothing.
    - {b Cancelled}. It closes [stream]. Each item is in one of the two, except
      that the item [feed] has just added may still be in [lwt_stream] as well.
    - {b Closed}. If another task closes [stream], [feed] ends. The item for
      which [stream] was closed is still in [lwt_stream].
    - {b Failure}. If [lwt_stream] fails, [feed] closes [stream] and fails with
      the same exception. *)

val post : (unit -> 'a Lwt.t) -> 'a Concord.Promise.t
(** [post f] makes Lwt's loop call [f ()] in its next turn, and returns a
    promise of the result. You can call [post] from any thread of any domain,
    and in the loop too.

    {[
      # Concord_lwt.run (fun () ->
            let domain =
              Domain.spawn (fun () ->
                  Concord.Promise.await
                    (Concord_lwt.post (fun () ->
                         Lwt.map (fun () -> "by Lwt's timer")
                           (Lwt_unix.sleep 0.001))))
            in
            Lwt.map
              (fun () -> Domain.join domain)
              (Lwt_unix.sleep 0.1))
      - : string = "by Lwt's timer"
    ]}

    Lwt has one loop at a time. If none has run yet, the first one calls [f].
    When a {!run} ends, the promises of unfinished jobs fail with {!No_loop}.
    Later calls fail in the same way, until another loop has begun its first
    turn. The end of a plain [Lwt_main.run] can't be noticed, so the next loop
    calls functions posted after it.

    The promise fails with the exception [f] raises, or its promise fails with.

    - {b Suspends} never.
    - {b Cancelled}. Only the task awaiting the promise is cancelled, and [f]
      continues. Use {!call} to cancel [f] as well.
    - {b Order}: as the calls.
    - {b Cost}: O(1). It needs a system call only if the loop may sleep. *)

exception No_loop
(** A job of {!post} or {!call} had not ended when {!run} or {!with_domain} did.

    The exception doesn't say whether the job had begun. Its effects up to this
    point remain. *)

type 'r loop
(** An Lwt loop, with a value of type ['r] belonging to it. *)

val the_loop : unit loop
(** The running loop, whichever this is, as for {!post}. *)

val call : 'r loop -> ('r -> 'a Lwt.t) -> 'a
(** [call loop f] makes [loop] call [f r], where [r] is its value, and returns
    the value of the promise [f r].

    Any task, thread or domain can call it. Tasks of other hosts can use code
    written only for Lwt in this way, such as a database client:

    {[
      # let slow_search () = Lwt.map (fun () -> "found") (Lwt_unix.sleep 60.) in
        let search () = Concord_lwt.call Concord_lwt.the_loop slow_search in
        let patient () = Concord.Tasks.with_timeout 0.001 search in
        Concord_lwt.run (fun () -> Concord_lwt.direct patient)
      - : string option = None
    ]}

    - {b Suspends} until the promise is resolved.
    - {b Cancelled} while suspended, for example by a timeout, [call] makes sure
      that [f] is never called, if it wasn't called yet. Otherwise [Lwt.cancel]
      cancels the promise [f r]. Then [call] waits until the promise is
      resolved, because functions of [Lwt.finalize] may still use the arguments
      the caller gave to [f]. Afterwards [call] raises the host's exception.
      However, if the promise has a value by then, or failed with another
      exception than [Lwt.Canceled], nothing is dropped. This is the result of
      [call], and the host's exception is raised where the task waits next.
    - {b Order}. Functions are called in the order of the calls, together with
      those of {!post}.
    - {b Cost}: a {!post}, and one suspension.
    - {b Raises} [e] if [f r] raises [e] or fails with [e]. The backtrace
      belongs to the last exception raised in the loop. It is the right one
      unless the promise was rejected by hand.
    - {b Raises} {!No_loop} as the promise of {!post} fails, and if the
      {!with_domain} of [loop] has ended.

    If a promise can't be cancelled (of [Lwt.wait], or [Lwt_preemptive.detach]),
    it keeps a cancelled caller waiting. If the caller need not wait, let [f]
    return [Lwt.protected promise]. Then [call] raises at once, the work of the
    promise continues, and its result is dropped. Eio without [concord-eio]
    can't defer a cancellation, so [call] never waits after a cancellation
    there. *)

val with_domain :
  ?grace:float ->
  ?close:('r -> unit Lwt.t) ->
  (unit -> 'r Lwt.t) ->
  ('r loop -> 'a) ->
  'a
(** [with_domain ~close create f] starts a domain for Lwt's loop, calls
    [create ()] there, and returns [f loop], where the value of [loop] is the
    result of [create].

    A program on another host can use a library written for Lwt in this way:

    {[
      # let connect () = Lwt.return (ref 0)
        and add n total = Lwt.map (fun () -> total := !total + n) (Lwt.pause ())
        and close total = Lwt.return (Printf.printf "closed: %d" !total) in
        Concord_fifo.run (fun () ->
            Concord_lwt.with_domain ~close connect (fun total ->
                Concord.Tasks.iter
                  (fun n -> Concord_lwt.call total (add n))
                  [ 1; 2; 3 ]))
      closed: 6
      - : unit = ()
    ]}

    When [f] has returned or raised, [close] closes the value (by default it
    does nothing), the loop ends, and the domain is joined.

    {b The end} takes four steps. None of them waits forever, so no promise
    stays unresolved.

    + [with_domain] waits up to [grace] seconds (by default 10) until no job of
      {!call} or {!post} is left. Jobs may still call and post. From then on,
      {!call} of this loop raises {!No_loop}.
    + [Lwt.cancel] cancels the remaining jobs, and they have [grace] seconds
      again to unwind.
    + [close] is called. If a job hasn't ended when the promise of [close] is
      resolved, it fails with {!No_loop}.
    + The threads of [Lwt_preemptive] end, because a domain can't end before its
      threads. A busy thread has [grace] seconds too. Afterwards [with_domain]
      returns, and the domain ends when the thread does.

    Altogether, [with_domain] waits no longer than three times [grace] and the
    time of [close]. With [~grace:infinity] it waits for all jobs and threads.

    - {b Suspends} the calling task only, whatever its host. It suspends until
      [create] has given its value, where [f] suspends, and until the domain is
      joined. A thread of the calling domain waits for the domain.
    - {b Cancelled} while [create] runs, it cancels the promise of [create] by
      [Lwt.cancel]. If [create] gives a value nevertheless, the value is closed.
      [f] is not called, and the host's exception is raised. If the task is
      cancelled later, [f] gets the host's exception where it waits. The end is
      {{!Concord.Tasks.protect}protected}. If a host can't defer a cancellation
      (Eio without [concord-eio]), the exception is raised at once, and the
      thread waits for the domain.
    - {b Signals}. The domain has the caller's signal mask. If a handler raises
      in the loop, the loop ends, as in [Lwt_main.run].
    - {b Cost}: a thread and a domain, which take about a millisecond.
    - {b Raises} [e] if [create] failed with [e], or [f] raised [e].
    - {b Raises} the failure of [close], or the exception that has ended the
      loop, if [f] returned. The latter also replaces a {!No_loop} raised by
      [f], because it is the reason.
    - {b Raises} [Failure] if an Lwt loop runs already, because Lwt has one at a
      time.
    - {b Raises} [Invalid_argument] if [grace] is negative, or not a number. *)

(** {2 Each structure, by an example}

    Operations that may block return a promise, so use them with [let*].
    Non-blocking operations are the same as in [Concord].

    {[
      # open Lwt.Syntax
      # open Concord_lwt
      # run (fun () ->
            let promise = Promise.create () in
            let answer = Promise.await promise in
            Promise.fill promise 42;
            answer)
      - : int = 42
      # run (fun () ->
            let box = Mvar.create 1 in
            let* before = Mvar.swap box 2 in
            let* tripled = Mvar.modify box (fun v -> (3 * v, v)) in
            let* after = Mvar.take box in
            Lwt.return [ before; tripled; after ])
      - : int list = [1; 2; 6]
      # run (fun () ->
            let promise = Promise.create () in
            let sum = Lazy.from_fun (fun () -> 1 + Concord.Promise.await promise) in
            let forced = Lazy.force sum in
            Promise.fill promise 2;
            forced)
      - : int = 3
      # run (fun () ->
            let channel = Channel.create () in
            let sent = Channel.send channel "hello" in
            let* text = Channel.receive channel in
            let* () = sent in
            Lwt.return text)
      - : string = "hello"
      # run (fun () ->
            let stream = Stream.create 1 in
            let sum = Stream.fold_s (fun sum n -> Lwt.return (sum + n)) 0 stream in
            let* () = Lwt_list.iter_s (Stream.add stream) [ 1; 2; 3 ] in
            Stream.close stream;
            sum)
      - : int = 6
      # run (fun () ->
            let mailbox = Mailbox.create () in
            let print word = Lwt.return (print_endline word) in
            let printed = Mailbox.iter_s print mailbox in
            List.iter (Mailbox.add mailbox) [ "one"; "two" ];
            Mailbox.close mailbox;
            printed)
      one
      two
      - : unit = ()
      # run (fun () ->
            let news = Broadcast.create () in
            let first = Broadcast.subscribe news in
            let second = Broadcast.subscribe news in
            let* () = Broadcast.send news "rain" in
            Lwt.both (Broadcast.receive first) (Broadcast.receive second))
      - : string * string = ("rain", "rain")
      # run (fun () ->
            let news = Bvar.create () in
            let heard = Bvar.wait news in
            Bvar.broadcast news "sun";
            heard)
      - : string = "sun"
      # run (fun () ->
            let mutex = Mutex.create () and ready = ref false in
            let changed = Condition.create () in
            let waiter =
              Mutex.with_lock mutex (fun () ->
                  let rec wait () =
                    if !ready then Lwt.return "ready"
                    else Lwt.bind (Condition.wait changed mutex) wait
                  in
                  wait ())
            in
            let* () =
              Mutex.with_lock mutex (fun () ->
                  ready := true;
                  Condition.signal changed;
                  Lwt.return_unit)
            in
            waiter)
      - : string = "ready"
      # run (fun () ->
            let two = Semaphore.Counting.make 2 in
            let busy = ref 0 and most = ref 0 in
            let job _ =
              Semaphore.Counting.with_permit two (fun () ->
                  incr busy;
                  most := max !most !busy;
                  let+ () = Lwt.pause () in
                  decr busy)
            in
            let* () = Lwt_list.iter_p job [ 1; 2; 3; 4; 5 ] in
            Lwt.return !most)
      - : int = 2
      # run (fun () ->
            let lock = Rwlock.create () and config = ref "old" in
            let read () = Rwlock.read lock (fun () -> Lwt.return !config) in
            let* before = read () in
            let* () =
              Rwlock.write lock (fun () ->
                  config := "new";
                  Lwt.return_unit)
            in
            let* after = read () in
            Lwt.return (before, after))
      - : string * string = ("old", "new")
      # run (fun () ->
            let barrier = Barrier.create 2 and over = Latch.create 2 in
            let party () =
              let+ () = Barrier.await barrier in
              Latch.count_down over
            in
            Lwt.join [ party (); party (); Latch.await over ])
      - : unit = ()
    ]} *)

include Concord.Tools.Monadic.S with type 'a promise := 'a Lwt.t
(** @inline *)
