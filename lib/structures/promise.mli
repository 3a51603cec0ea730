(** Promise: a value that will be there later; tasks of any host can wait for
    it.

    Also called an IVar. A promise is filled, or fails, at most once, and stays
    so. (Section 3.3 of "Effectively Composing Concurrency Libraries".)

    An operation without a {b Suspends} line never suspends and needs no running
    scheduler: without a {b Cost} line it is O(1). It can be called from a
    signal handler, a finaliser or any callback, and is safe from any domain and
    thread. (OCaml runs no signal handler while all threads of a domain are
    parked, as in {!await} in a plain thread: a handler can resume tasks of Eio,
    not the thread it must run in.)

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
(** The promise was filled or had failed before. *)

val create : unit -> 'a t
(** A promise that is neither filled nor failed. *)

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

val fail_waiters : ?backtrace:Printexc.raw_backtrace -> 'a t -> exn -> int
(** As {!fail}, and returns how many tasks waited. All of them have the
    exception now, but for those that were cancelled and not yet unwound: these
    find it by {!peek}.

    @raise Already_filled if [t] is filled or failed. *)

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

val peek : 'a t -> ('a, exn) result option
(** [peek t] is the outcome of [t], or [None] as long as [t] is neither filled
    nor failed. *)

val is_resolved : 'a t -> bool
(** [is_resolved t] is [peek t <> None], without allocation. *)

val waiters : 'a t -> int
(** How many tasks wait, for tests and diagnosis. One that was cancelled counts
    until it is unwound. *)
