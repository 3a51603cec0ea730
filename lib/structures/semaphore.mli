(** Semaphores for tasks of any hosts.

    {b Stability}: stable.

    Drop-ins for Stdlib's [Semaphore.Counting] and [Semaphore.Binary] that block
    the task only. A permit that is released while others wait passes to the
    first of them, and no task overtakes, but for threads that sleep (see
    {!Mutex}).

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1). *)

(** A number of permits. *)
module Counting : sig
  type t

  val make : int -> t
  (** [make n] has [n] permits. It gets a name by
      {!Concord.Tools.Debug.val-name}, as this is Stdlib's signature. Reports do
      not say who has the permits: any task may release one, so that no single
      task is waited for.

      - {b Raises} [Invalid_argument] if [n] is negative. *)

  val make_in_order : int -> t
  (** As {!Concord.Mutex.create_in_order}. *)

  val acquire : t -> unit
  (** [acquire t] takes a permit.

      - {b Suspends} while there is none.
      - {b Cancelled} while suspended: no permit was taken. A task that was
        given a permit returns with it, even if it is cancelled right after.
      - {b Order}: that of arrival, but for threads that sleep.
      - {b Cost}: O(1), also to withdraw (amortised). *)

  val try_acquire : t -> bool
  (** [try_acquire t] takes a permit if there is one. Returns [true] if it did.
  *)

  val release : t -> unit
  (** [release t] passes a permit to the first task that waits, or returns it if
      nobody waits or the first one wants more ({!acquire_n}).

      - {b Raises} [Sys_error] if there are already [max_int] permits. *)

  val get_value : t -> int
  (** How many permits there are. *)

  val acquire_evt : t -> unit Event.t
  (** The event of {!acquire}. *)

  val waiters : t -> int
  (** How many tasks wait, for diagnosis. One that was cancelled counts until it
      is unwound. *)

  val with_permit : t -> (unit -> 'a) -> 'a
  (** [with_permit t f] is [f ()] with a permit of [t], which is released
      however [f] ends.

      - {b Suspends}, {b Cancelled}: as {!acquire}, and as [f].
      - {b Raises} [e] if [f] raises [e], after the release. *)

  (** {2 Several permits at once}

      For example, a service that may hold 1 MB of requests has a semaphore of
      1,000,000 permits, and each request takes as many as it has bytes.

      {[
        # let bytes = Semaphore.Counting.make 1_000_000
        val bytes : Concord.Semaphore.Counting.t = <abstr>
        # Semaphore.Counting.with_permits bytes 800_000 (fun () ->
              Semaphore.Counting.try_acquire_n bytes 300_000)
        - : bool = false
      ]}

      All permits of a call are taken together, or none. So two tasks that need
      two permits each don't end up with one each, waiting for the other. The
      permits may be released together, one by one, or by several tasks.

      Each function raises [Invalid_argument] if [n] is negative. If [n] is 0,
      the task waits for its turn, as others do, and takes nothing. *)

  val acquire_n : t -> int -> unit
  (** [acquire_n t n] takes [n] permits.

      - {b Suspends} while there are fewer, and while tasks wait that came
        before. It waits for ever if there will never be as many: [t] doesn't
        know how many permits will be released.
      - {b Cancelled} while suspended: no permit was taken, and the tasks behind
        are served that had to wait only for this one. A task that was given the
        permits returns with them, even if it is cancelled right after.
      - {b Order}: that of arrival, but for threads that sleep. Tasks that want
        fewer permits don't overtake, nor does {!acquire}. So a large request
        doesn't starve, and permits may lie idle while it waits.
      - {b Cost}: O(1), also to withdraw (amortised). A withdrawal serves the
        tasks behind: O(m) for [m] of them. *)

  val try_acquire_n : t -> int -> bool
  (** [try_acquire_n t n] takes [n] permits if that needs no waiting. Returns
      [true] if it did. *)

  val release_n : t -> int -> unit
  (** [release_n t n] returns [n] permits, and passes them to the tasks that
      wait, in their order. O(m) for [m] tasks that are served.

      - {b Raises} [Sys_error] if there would be more than [max_int] permits.
        Then none was returned. *)

  val acquire_n_evt : t -> int -> unit Event.t
  (** The event of {!acquire_n}. *)

  val with_permits : t -> int -> (unit -> 'a) -> 'a
  (** [with_permits t n f] is [f ()] with [n] permits of [t], which are released
      however [f] ends.

      - {b Suspends}, {b Cancelled}: as {!acquire_n}, and as [f].
      - {b Raises} [e] if [f] raises [e], after the release. *)
end

(** One permit or none. *)
module Binary : sig
  type t

  val make : bool -> t
  (** [make available] has a permit if [available]. Of the name and of reports
      the same is true as of {!Counting.make}: a binary semaphore is often
      released by another task than the one that acquired it. *)

  val make_in_order : bool -> t
  (** As {!Concord.Mutex.create_in_order}. *)

  val acquire : t -> unit
  (** As {!Counting.acquire}.

      - {b Suspends} while there is no permit. *)

  val try_acquire : t -> bool
  (** As {!Counting.try_acquire}. *)

  val release : t -> unit
  (** As {!Counting.release}; but if there is a permit already, nothing changes.
  *)

  val acquire_evt : t -> unit Event.t
  (** The event of {!acquire}. *)

  val waiters : t -> int
  (** How many tasks wait, for diagnosis. One that was cancelled counts until it
      is unwound. *)

  val with_permit : t -> (unit -> 'a) -> 'a
  (** As {!Counting.with_permit}.

      - {b Suspends}, {b Cancelled}: as {!acquire}, and as [f]. *)
end
