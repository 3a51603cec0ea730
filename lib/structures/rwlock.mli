(** A lock that many tasks may hold to read, or one to write.

    {b Stability}: stable.

    Tasks of any hosts may use it. Like a {!Mutex}, it does not know which task
    holds it: it cannot be locked twice by one task, nor turned from reading
    into writing (but see {!downgrade}). While waits are kept
    ({!Concord.Tools.Debug.keep_waits}) it remembers the tasks that lock it, for
    reports, as far as their hosts tell tasks apart, and those that are in
    {!read} or {!write} in any case. If a task ends what another one began,
    nobody is known to hold the lock from then on but those who lock it later.

    An operation without a {b Suspends} line never suspends and performs no
    effect. Without a {b Cost} line it is O(1). *)

type t

val create :
  ?name:string -> ?in_order:bool -> ?prefer:[ `Nobody | `Writers ] -> unit -> t
(** [create ()] is fair: readers and writers are served in the order of their
    arrival, and neither can starve. A task in a thread that sleeps may be
    overtaken for a moment (see {!Mutex}), unless the lock is [~in_order:true]
    ([false] by default): then threads may be slower by a factor of ten and
    more. With [~prefer:`Writers] writers go before all readers that wait, and
    among themselves in the order of their arrival: readers wait as long as
    there are writers. [name] is for reports. *)

val read_lock : t -> unit
(** [read_lock t] holds [t] to read.

    - {b Suspends} while a task holds [t] to write, and while others that go
      first wait.
    - {b Cancelled} while suspended: [t] was not locked by this call, and the
      tasks that could not be served because of this one are served. From the
      moment of cancelling the task is given nothing: an unlock passes it over.
      But [t] learns that the task does not wait any more only when the task is
      unwound: until then a cancelled writer keeps out the readers behind it,
      also {!try_read_lock}. Its host decides when that is: Eio and an eager
      [Concord_fifo] in the task's next turn, a lazy one later.
    - {b Order}: see {!create}.
    - {b Cost}: O(1), also to withdraw (amortised). *)

val write_lock : t -> unit
(** [write_lock t] holds [t] to write, alone.

    - {b Suspends} while a task holds [t], and while others that go first wait.
    - {b Cancelled}, {b Order}, {b Cost}: as {!read_lock}. If the tasks behind
      it can hold [t] without it, a withdrawal serves them: O(n) for [n]. *)

val try_read_lock : t -> bool
(** [try_read_lock t] holds [t] to read if that needs no waiting. Returns [true]
    if it does. It is [false] while a writer waits that goes first, also one
    that was cancelled and is not unwound yet. *)

val try_write_lock : t -> bool
(** [try_write_lock t] is the same for {!write_lock}. *)

val read_unlock : t -> unit
(** Ends one {!read_lock}, and serves the tasks that can hold [t] then. O(n) for
    [n] tasks that are served.

    - {b Raises} [Sys_error] if nobody holds [t] to read. *)

val write_unlock : t -> unit
(** Ends a {!write_lock}, and serves the tasks that can hold [t] then. O(n) for
    [n] tasks that are served.

    - {b Raises} [Sys_error] if nobody holds [t] to write. *)

val downgrade : t -> unit
(** [downgrade t] turns a {!write_lock} into a {!read_lock}. The caller ends it
    by {!read_unlock}. No writer has [t] in between, so what the caller has
    written is still there. Readers that wait come in now, as far as no writer
    goes first (see {!create}). O(n) for [n] tasks that are served.

    There is no function that turns a reader into a writer. It would have to
    wait until it is the only reader, and two readers that do so would wait for
    each other, forever. Instead, unlock, lock to write, and look again at what
    you have read.

    Don't call it in the function of {!write}, which unlocks a writer. It is for
    {!write_lock}:

    {[
      # let lock = Rwlock.create () and price = ref 1
      val lock : Rwlock.t = <abstr>
      val price : int ref = {contents = 1}
      # Rwlock.write_lock lock;
        price := 2;
        Rwlock.downgrade lock;
        let others_read = Rwlock.read lock (fun () -> !price) in
        Rwlock.read_unlock lock;
        others_read
      - : int = 2
    ]}

    - {b Raises} [Sys_error] if nobody holds [t] to write. *)

val read : t -> (unit -> 'a) -> 'a
(** [read t f] is [f ()] while [t] is held to read, and unlocks it however [f]
    ends.

    - {b Suspends}, {b Cancelled}: as {!read_lock}, and as [f].
    - {b Raises} [e] if [f] raises [e], after [t] was unlocked. *)

val write : t -> (unit -> 'a) -> 'a
(** The same with {!write_lock}.

    - {b Suspends}, {b Cancelled}: as {!write_lock}, and as [f].
    - {b Raises} [e] if [f] raises [e], after [t] was unlocked. *)

val read_lock_evt : t -> unit Event.t
(** The event of {!read_lock}. *)

val write_lock_evt : t -> unit Event.t
(** The event of {!write_lock}. *)

val waiters : t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)

(**/**)

val holders : t -> Waits.holder list
(** Those that are noted, and others as unknown tasks. *)
