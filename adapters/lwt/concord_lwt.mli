(** Concord's structures for Lwt: an operation that waits gives a promise of
    Lwt, and is woken by tasks of any host, in any domain.

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
    - {b Cancelled}: the task that awaits the promise is; [f] goes on.
    - {b Order}: that of the calls.
    - {b Cost}: O(1). A system call only if the loop may sleep.

    The promise fails with what [f] raises, or its promise fails with. *)

exception No_loop
(** A job of {!post} had not ended when {!run} did. Whether it had begun is not
    said: what it did until then is done. *)

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
            Broadcast.send news "rain";
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
