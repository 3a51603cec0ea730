(** A pool of resources that many tasks share, such as database connections or
    buffers.

    {b Stability}: experimental, may change in any release.

    A pool creates a resource when a task needs one and none is idle, but at
    most [n] of them. If all are in use, the next task waits until one is
    returned. Tasks of any hosts and domains can share the pool. (It isn't a
    pool of domains. For that, see [Domainslib.Task].)

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

    - {b At most [n]} resources exist at a time. A resource counts from the call
      of [make] until [dispose] has returned.
    - {b No resource is lost}, and no waiter loses its turn, if [make],
      [validate], [dispose] or the function given to {!use} raises or is
      cancelled. If [make] raises, it has to release what it had opened itself.
    - {b After a failure}, the pool disposes of the resource, because its state
      is unknown. For example, if a query was cancelled, its answer is still in
      the connection. With [keep_after] you name exceptions that leave the
      resource intact.
    - {b Reuse} is last in, first out. So the most recently used resource is
      used next, and the others stay idle.

    The functions given to {!create} and {!use} run in the task that uses the
    pool, and may suspend. The {{!/concord/rules}rules of all structures} hold.

    See also the pages on {{!/concord/eio}Eio} and {{!/concord/lwt}Lwt}. *)

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
(** [create n make] returns a pool of at most [n] resources.

    It calls [make ()] only when a task needs a resource. Reports call the pool
    by its [name].

    - [validate v] is called before an idle resource is used again. If it
      returns [false], the pool disposes of [v], and calls [make] again for the
      same task. By default, it returns [true].
    - [dispose v] releases [v], for example by closing it. It is called once for
      each resource that doesn't stay in the pool. It runs in
      {!Concord.Tasks.protect}, because a cancelled task has to release its
      resource too. By default, it does nothing.
    - [keep_after e] returns [true] if a resource can be used again after [e]
      was raised by the function that used it. It should neither suspend nor
      raise. By default, it returns [false].

    - {b Raises} [Invalid_argument] if [n] is less than 1. *)

val use : 'a t -> ('a -> 'b) -> 'b
(** [use t f] calls [f v] with a resource [v] of [t] that no other task uses
    meanwhile.

    When [f] returns, [v] goes to the first waiting task, or becomes idle. If
    [f] raises, the pool disposes of [v], unless [keep_after] says otherwise. If
    the pool was closed meanwhile, it always disposes of [v].

    - {b Suspends} while [n] resources are in use, and in [make], [validate],
      [f] and [dispose]. If [f] uses the same pool, it may wait forever.
    - {b Cancelled} while it waits for a resource, it has changed nothing, and
      no other waiter loses its turn. If it is cancelled in [make], [validate]
      or [f], that function has failed.
    - {b Order}: waiting tasks are served in the order in which they arrived,
      and newcomers never overtake them. If [make] fails, the first waiting task
      calls [make].
    - {b Raises} the exception of [make], [validate] or [f], after the resource
      was returned or disposed of. Otherwise it raises the exception of
      [dispose]. If [validate] raises, its resource is disposed of.
    - {b Raises} {!Closed} if [t] is closed before the task gets a resource. *)

val use_evt : 'a t -> ('a -> 'b) -> 'b Event.t
(** [use_evt t f] is the event of {!use}.

    An alternative that isn't chosen takes no resource. [make], [validate] and
    [f] run after the choice. In a choice this isn't a bracket: if a signal
    handler raises just after the choice, the resource stays in use forever. *)

(** {1 Closing} *)

val close : 'a t -> unit
(** [close t] closes [t], so that {!use} raises {!Closed}, also in waiting
    tasks.

    Idle resources are disposed of now, and the others when they are returned.
    If a call of [dispose] raises, the other resources are disposed of all the
    same. A second call does nothing.

    - {b Suspends} in [dispose] only. It doesn't wait for tasks that use
      resources. For that, call {!await_closed}. *)

val await_closed : 'a t -> unit
(** [await_closed t] waits until [t] is closed and all its resources were
    disposed of. To wait for a limited time, use {!Concord.Event.sync_before}:

    {[
      # let close_within seconds pool =
          Pool.close pool;
          Option.is_some (Event.sync_before seconds (Pool.await_closed_evt pool))
      val close_within : float -> 'a Pool.t -> bool = <fun>
      # close_within 5. pool
      - : bool = true
    ]}

    - {b Suspends} until then. If [close] is never called, it waits forever. *)

val await_closed_evt : 'a t -> unit Event.t
(** [await_closed_evt t] is the event of {!await_closed}. *)

val is_closed : 'a t -> bool
(** [is_closed t] is [true] once {!close} was called. *)

(** {1 Inspecting} *)

val capacity : 'a t -> int
(** [capacity t] is the number given to {!create}. *)

val size : 'a t -> int
(** [size t] is the number of resources that exist. It includes those that are
    idle, in use, being created or being disposed of. *)

val idle : 'a t -> int
(** [idle t] is the number of resources that no task uses.

    - {b Cost}: O(n). *)

val in_use : 'a t -> int
(** [in_use t] is [size t - idle t].

    - {b Cost}: O(n). *)

val waiters : 'a t -> int
(** [waiters t] is the number of tasks that wait for a resource or for the end,
    for diagnosis. *)

(**/**)

val obtain : 'a t -> 'a
(** [obtain t] is the first part of {!use}, for other styles. The caller has to
    call one of the following two functions once. *)

val give_back : 'a t -> 'a -> unit

val give_back_after : 'a t -> 'a -> exn -> unit
(** [give_back_after t v e] returns [v] after the caller's function raised [e].
    It never raises. *)
