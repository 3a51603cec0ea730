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

    To link this library adds hooks to Lwt's loop, and a notification.

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
(** [run f] is [Lwt_main.run (f ())]. It differs for direct-style operations:

    - those in tasks of [Lwt_direct] suspend the task (so do operations of other
      libraries that wait by [Domain_local_await], as Kcas);
    - one that has to wait in a plain callback of Lwt raises {!In_callback}.

    In [Lwt_main.run] both freeze the loop. All else is the same there.

    An operation that still waits when [run] returns keeps its place in the
    structures, and may be given what others wait for too. It goes on in the
    next loop.

    - {b Raises} [e] if the promise of [f ()] fails with [e], or [f] raises [e].
    - {b Raises} [Failure] if a [run] is running already. *)

exception In_callback
(** A direct-style operation had to wait in a callback of Lwt, which cannot. Use
    the operation of that name in this module, {!direct}, or a task of
    [Lwt_direct]. A lazy value whose computation got this exception has not
    failed: it is computed again where it is forced next. *)

val to_lwt : 'a Concord.Promise.t -> 'a Lwt.t
(** {!Promise.await}, as a conversion. Suspends, orders and costs as that.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop, and it
      has to wait. *)

val of_lwt : 'a Lwt.t -> 'a Concord.Promise.t
(** A promise that is filled, or fails, when Lwt's does.

    - {b Raises} [Invalid_argument] if another thread runs Lwt's loop. *)

include Concord.Monadic.S with type 'a promise := 'a Lwt.t
(** @inline *)
