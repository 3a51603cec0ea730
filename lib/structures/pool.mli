(** A pool of resources, such as connections to a database or buffers.

    {b Stability}: experimental, may change in any release.

    A pool makes a resource when a task needs one and none is idle, but at most
    [n] of them. A task that comes while all are in use waits for one to be
    given back. Tasks of any hosts and domains share the pool. (It isn't a pool
    of domains: that is [Domainslib.Task].)

    {[
      # let made = ref 0
      val made : int ref = {contents = 0}
      # let pool = Pool.create 2 (fun () -> incr made; !made)
      val pool : int Pool.t = <abstr>
      # Pool.use pool (fun a -> Pool.use pool (fun b -> (a, b)))
      - : int * int = (1, 2)
      # Pool.use pool Fun.id
      - : int = 1
      # (Pool.size pool, Pool.idle pool)
      - : int * int = (2, 2)
    ]}

    {2 What a pool promises}

    - {b At most [n]} resources exist at a time. One counts from before it is
      made until after it was disposed of.
    - {b No resource and no turn is lost} if [make], [validate], [dispose] or
      the function given to {!use} raises or is cancelled, nor if a signal
      handler raises (but see {!use_evt}). What [make] itself had opened before
      it raised is its own business.
    - {b After a failure} the resource is disposed of, because nobody knows
      which state it is in. For example, a query that was cancelled leaves its
      answer in the connection. [keep_after] names exceptions after which the
      resource is fine.
    - {b Reuse} is last in, first out: so the resource that was used last is
      used next, and the others stay idle.

    The functions given to {!create} and {!use} run in the task that uses the
    pool, and may suspend. An operation without a {b Suspends} line never
    suspends and performs no effect. *)

type 'a t
(** A pool of resources of type ['a]. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

val create :
  ?name:string ->
  ?validate:('a -> bool) ->
  ?dispose:('a -> unit) ->
  ?keep_after:(exn -> bool) ->
  int ->
  (unit -> 'a) ->
  'a t
(** [create n make] is a pool of at most [n] resources, each of which [make ()]
    makes when it is needed. No resource is made before. Reports call the pool
    by its [name].

    - [validate v] is called before an idle resource is used again. If it is
      [false], [v] is disposed of, and [make] makes another one for the same
      task. By default it is [true].
    - [dispose v] releases [v], for example closes it. It is called once for
      each resource that was made and doesn't stay in the pool, in
      {!Concord.Tasks.protect}: a task that is cancelled has to release its
      resource all the same. By default it does nothing.
    - [keep_after e] tells whether a resource can be used again although the
      function that used it raised [e]. By default it can't. It should neither
      suspend nor raise.

    - {b Raises} [Invalid_argument] if [n] is less than 1. *)

val use : 'a t -> ('a -> 'b) -> 'b
(** [use t f] is [f v] for a resource [v] of [t] that no other task uses
    meanwhile. Afterwards [v] is idle, or passes to the first task that waits.
    If [f] raises, [v] is disposed of (see [keep_after] at {!create}). If the
    pool was closed meanwhile, [v] is disposed of as well.

    - {b Suspends} while [n] resources are in use, and in [make], [validate],
      [f] and [dispose]. If [f] uses the same pool, that may wait forever.
    - {b Cancelled} while it waits for a resource: nothing happened, and no
      other waiter loses its turn. Cancelled in [make], [validate] or [f]: as if
      that function raised.
    - {b Order}: that of arrival; no task overtakes those that wait. If [make]
      fails, the first waiter makes the next one.
    - {b Cost}: O(1), also to withdraw (amortised).
    - {b Raises} what [make], [validate] or [f] raises, after the resource was
      given back or disposed of, and otherwise what [dispose] raises. A resource
      whose [validate] raises is disposed of.

    @raise Closed if [t] is closed before it has a resource for the task. *)

val use_evt : 'a t -> ('a -> 'b) -> 'b Event.t
(** The event of {!use}. An alternative that isn't chosen takes no resource.
    [make], [validate] and [f] run after the choice. If a signal handler raises
    just after the choice, the resource stays in use forever. *)

(** {2 The end} *)

val close : 'a t -> unit
(** [close t] ends [t]: {!use} raises {!Closed}, also in tasks that wait. Idle
    resources are disposed of now, and those in use when they are given back. If
    a [dispose] raises, the others are disposed of all the same. To close again
    does nothing. O(n).

    - {b Suspends} in [dispose] only. It doesn't wait for tasks that use
      resources: that is {!await_closed}. *)

val await_closed : 'a t -> unit
(** [await_closed t] returns once [t] is closed and all its resources were
    disposed of. Use {!Concord.Event.sync_before} to wait for a limited time:

    {[
      # let close_within seconds pool =
          Pool.close pool;
          Option.is_some (Event.sync_before seconds (Pool.await_closed_evt pool))
      val close_within : float -> 'a Pool.t -> bool = <fun>
      # close_within 5. pool
      - : bool = true
    ]}

    - {b Suspends} until then: forever, if nobody closes [t].
    - {b Cancelled} while suspended: nothing has changed.
    - {b Order}: all continue, first come first.
    - {b Cost}: O(1), also to withdraw (amortised). *)

val await_closed_evt : 'a t -> unit Event.t
(** The event of {!await_closed}. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

(** {2 Looking at it} *)

val capacity : 'a t -> int
(** The [n] given to {!create}. *)

val size : 'a t -> int
(** How many resources exist: idle, in use, being made or disposed of. *)

val idle : 'a t -> int
(** How many of them no task has. O(n). *)

val in_use : 'a t -> int
(** How many of them a task has: [size t - idle t]. O(n). *)

val waiters : 'a t -> int
(** How many tasks wait for a resource or for the end, for diagnosis. One that
    was cancelled counts until it is unwound. *)

(**/**)

val obtain : 'a t -> 'a
(** The first part of {!use}, for other styles. Then the caller has to call one
    of the two functions below, once. *)

val give_back : 'a t -> 'a -> unit

val give_back_after : 'a t -> 'a -> exn -> unit
(** After a failure with this exception. It never raises. *)
