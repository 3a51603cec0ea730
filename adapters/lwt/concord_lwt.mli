(** Concord's structures for Lwt: an operation that waits gives a promise of
    Lwt, and is woken by tasks of any host, in any domain.

    {b Stability}: stable, but for {!call} and {!with_domain}, which are
    experimental and may change in any release.

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

    Lwt is not patched, and only the thread that runs its loop touches its
    state: other threads put what they want done into a queue, and wake the loop
    if it sleeps. Only the loop's thread can call the functions below that give
    a promise of Lwt; while a loop of Lwt runs, another thread gets
    [Invalid_argument] from a function that has to wait. Lwt has one loop at a
    time. The next one may run in another thread. (Section 5 of "Effectively
    Composing Concurrency Libraries".)

    Linking this library adds a notification and hooks to Lwt's loop. It is
    enough for programs that use direct-style operations of [Concord] only: they
    suspend tasks of [Lwt_direct], and raise {!In_callback} in callbacks, once
    [concord-lwt] is among the [libraries] in your dune file. You don't need to
    call or open anything, because the linker keeps all of the library.

    {2 What holds for all}

    - {b Cancelled} by [Lwt.cancel] while it waits: the operation has changed
      nothing, no other task loses its turn, and the promise fails with
      [Lwt.Canceled]. If it was resumed just before, it has its value. So the
      promise has its value when [Lwt.cancel] returns, or it will fail. Code in
      direct style may return all the same ({!direct}, a computation, a function
      of [Event.wrap]), and so may a choice that was signalled and waits for the
      mutex of its [Condition.wait_evt].
    - {b Order, cost}: those of the operation.
    - {b Turns}: an operation that need not wait gives a resolved promise. But
      if Lwt's loop had no turn for 10 ms, and a hundred operations did not wait
      since, then an operation is begun in the next turn. So a task whose
      operations never wait stops neither the loop nor its own cancellation.
    - {b Storage}: that of the sequence ([Lwt.key]) is the same before and after
      a wait.
    - {b Callbacks} of a promise are called by Lwt's loop, never by the thread
      that resumes the operation.
    - {b Signal handlers} that raise, anywhere: a task that was resumed, or was
      to be woken, still is. *)

val run : (unit -> 'a Lwt.t) -> 'a
(** [run f] is [Lwt_main.run (f ())], and registers Lwt as the scheduler of its
    thread: so other libraries that wait by [Domain_local_await], as Kcas,
    suspend a task of [Lwt_direct], where in [Lwt_main.run] they freeze the
    loop; a loop of Eio may run in a task of {!direct}; and two of these loops
    at once are refused. All else is the same in [Lwt_main.run], which every
    existing program has:

    - direct-style operations in tasks of [Lwt_direct] suspend the task;
    - one that has to wait in a plain callback of Lwt raises {!In_callback}. (In
      what [Lwt_main.at_exit] calls, after a plain loop, it parks the thread. So
      it does in functions of Stdlib's [at_exit] if a callback has called
      [exit].)

    An operation that still waits when [run] returns keeps its place in the
    structures, and may be given what others wait for too. It goes on in the
    next loop.

    - {b Raises} [e] if the promise of [f ()] fails with [e], or [f] raises [e].
    - {b Raises} [Failure] if a [run] is running already. *)

exception In_callback
(** A direct-style operation had to wait in a callback of Lwt, which cannot; or
    in a signal handler or a finaliser that ran in Lwt's loop. Use the operation
    of that name in this module, {!direct}, or a task of [Lwt_direct]. A lazy
    value whose computation got this exception has not failed: it is computed
    again where it is forced next. *)

val to_lwt : 'a Concord.Promise.t -> 'a Lwt.t
(** {!Promise.await}, as a conversion. Suspends, orders and costs as that.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop, and it
      has to wait. *)

val of_lwt : 'a Lwt.t -> 'a Concord.Promise.t
(** A promise that is filled, or fails, when Lwt's does.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop. *)

val to_lwt_stream : 'a Concord.Event.t -> 'a Lwt_stream.t
(** [to_lwt_stream event] performs [event] for each item that is asked of it,
    such as [Mailbox.take_evt mailbox], and ends when that raises
    [Concord.Mailbox.Closed]. No item is taken before it is asked for. Who
    asked, and was cancelled, leaves the item for who asks next; but a stream
    that nobody reads any more keeps the item that it was asked for. *)

val feed : 'a Concord.Stream.t -> 'a Lwt_stream.t -> unit Lwt.t
(** [feed stream lwt_stream] adds the items of [lwt_stream] to [stream], and
    waits while that is full. At the end it closes [stream].

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
    - {b Cancelled}: it closes [stream]. Only the item that it had added just
      before may still be in [lwt_stream]; others are in one of the two.
    - {b Closed} by others, [stream] is fed no more, and [feed] ends. The item
      that found it closed is still in [lwt_stream].

    If [lwt_stream] fails, [feed] closes [stream] and fails with that. Nobody
    else may read [lwt_stream] meanwhile. *)

val post : (unit -> 'a Lwt.t) -> 'a Concord.Promise.t
(** [post f] has Lwt's loop call [f ()], in its next turn, and is a promise of
    what that gives. From any thread of any domain, and in the loop as well.

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

    Which loop: Lwt has one at a time. If none has run yet, the first one calls
    [f]. When a {!run} ends, and what was posted has not, the promises fail with
    {!No_loop}; so do those of later calls, until another loop has begun its
    first turn. Nobody can see a plain [Lwt_main.run] end: what is posted after
    it is called by the next one.

    - {b Suspends} no task; signal handlers, finalisers and callbacks may call
      it.
    - {b Cancelled}: the task that awaits the promise is; [f] goes on. {!call}
      cancels [f] as well.
    - {b Order}: that of the calls.
    - {b Cost}: O(1). A system call only if the loop may sleep.

    The promise fails with what [f] raises, or its promise fails with. *)

exception No_loop
(** A job of {!post} or {!call} had not ended when {!run} or {!with_domain} did.
    Whether it had begun is not said: what it did until then is done. *)

type 'r loop
(** A loop of Lwt, and a value of type ['r] that belongs to it. *)

val the_loop : unit loop
(** The loop that runs, whichever that is, as for {!post}. *)

val call : 'r loop -> ('r -> 'a Lwt.t) -> 'a
(** [call loop f] has [loop] call [f r], where [r] is its value, and returns
    what the promise [f r] is resolved with. Any task, thread or domain can call
    it. Whatever the program has for Lwt only, such as the client of a database,
    is used by this from tasks of other hosts:

    {[
      # let slow_search () = Lwt.map (fun () -> "found") (Lwt_unix.sleep 60.) in
        let search () = Concord_lwt.call Concord_lwt.the_loop slow_search in
        let patient () = Concord.Tasks.with_timeout 0.001 search in
        Concord_lwt.run (fun () -> Concord_lwt.direct patient)
      - : string option = None
    ]}

    - {b Suspends} until the promise is resolved.
    - {b Cancelled} while suspended, for example by a timeout: if [f] was not
      called yet, it never is. Otherwise the promise [f r] is cancelled by
      [Lwt.cancel]. Then [call] waits until the promise is resolved, because
      functions of [Lwt.finalize] may still use what the caller gave to [f].
      Afterwards [call] raises the host's exception. However, if the promise has
      a value by then, or failed with another exception than [Lwt.Canceled],
      then nothing is dropped: that is the result of [call], and the host's
      exception is raised where the task waits next. (An exception of a signal
      handler, in a thread, is raised in any case.)
    - {b Order}: functions are called in the order of the calls, together with
      those of {!post}.
    - {b Cost}: that of {!post}, and one suspension.
    - {b Raises} [e] if [f r] raises [e] or fails with [e], with the backtrace
      of the exception that was raised last in the loop. That is the right one
      unless the promise was rejected by hand.
    - {b Raises} {!No_loop} as the promise of {!post} fails, and if the
      {!with_domain} of [loop] has ended.

    A promise that can't be cancelled (of [Lwt.wait], or
    [Lwt_preemptive.detach]) keeps a cancelled caller waiting. If it need not
    wait, let [f] return [Lwt.protected promise]. Then [call] raises at once,
    and what the promise stands for goes on and is dropped. Eio without
    [concord-eio] can't defer a cancellation, so that [call] never waits after
    one there. *)

val with_domain :
  ?grace:float ->
  ?close:('r -> unit Lwt.t) ->
  (unit -> 'r Lwt.t) ->
  ('r loop -> 'a) ->
  'a
(** [with_domain ~close create f] starts a domain that runs Lwt's loop, calls
    [create ()] there, and is [f loop], where the value of [loop] is what
    [create] gave. When [f] has returned or raised, the value is closed by
    [close] (by default nothing is done), the loop ends, and the domain is
    joined. So a program on another host uses a library that is written for Lwt:

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

    {b The end.} Once [f] has ended, [with_domain] waits up to [grace] seconds
    (by default 10) until no job of {!call} or {!post} is left, where jobs may
    still call and post. After that, {!call} of this loop raises {!No_loop}. The
    jobs that are left are cancelled by [Lwt.cancel], and have [grace] seconds
    again to unwind. Then [close] is called. What has not ended when its promise
    is resolved fails with {!No_loop}. At last the threads of [Lwt_preemptive]
    end, because a domain can't end before its threads. One that is busy has
    [grace] seconds too. After that [with_domain] returns, and the domain ends
    when the thread does. So no promise stays unresolved, and [with_domain]
    waits no longer than three times [grace] and the time that [close] takes.
    [~grace:infinity] waits for all jobs and threads.

    - {b Suspends} the calling task only, whatever its host: until [create] has
      given its value, where [f] does, and until the domain is joined. A thread
      of the calling domain waits for the domain.
    - {b Cancelled} while [create] runs: its promise is cancelled by
      [Lwt.cancel]. If it gives a value nevertheless, that is closed. [f] is not
      called, and the host's exception is raised. Later: [f] gets the host's
      exception where it waits. The end is {{!Concord.Tasks.protect}protected}.
      Where a host can't defer a cancellation (Eio without [concord-eio]) the
      exception is raised at once, and the thread waits for the domain.
    - {b Signals}: the domain has the caller's signal mask. What a handler
      raises in the loop ends the loop, as in [Lwt_main.run].
    - {b Cost}: a thread and a domain, which take about a millisecond.
    - {b Raises} [e] if [create] failed with [e], or [f] raised [e]. If [f]
      returned: what [close] failed with, or what has ended the loop. The latter
      also if [f] raised {!No_loop}, because it is the reason.
    - {b Raises} [Failure] if a loop of Lwt runs already, because Lwt has one at
      a time.
    - {b Raises} [Invalid_argument] if [grace] is negative, or not a number. *)

(** {2 Each structure, by an example}

    What waits gives a promise, and is used with [let*]; what cannot wait is as
    in [Concord].

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
            List.iter (Mailbox.put mailbox) [ "one"; "two" ];
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
