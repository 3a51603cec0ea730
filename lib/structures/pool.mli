(** A pool of resources shared by many tasks, such as database connections or
    buffers.

    {b Stability}: stable.

    A pool creates resources on demand, up to a limit of [n]. If all are in use,
    the next task waits until one is returned. Tasks of any hosts and domains
    can share the pool. (It isn't a pool of domains. For domains, see
    [Domainslib.Task].)

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
      cancelled. [make] must release anything it opened before it raises.
    - {b After a failure}, the pool disposes of the resource, because its state
      is unknown. For example, if a query was cancelled, its answer is still in
      the connection. With [keep_after] you name exceptions that leave the
      resource intact.
    - {b Reuse} is last in, first out. The most recently used resource is used
      next, and the others stay idle, until their [idle_time] is over.
    - {b Reports} of waiting tasks name the tasks holding resources. If all of
      them wait for each other, a report shows the deadlock cycle.

    The functions given to {!create} and {!use} run in the task using the pool,
    and may suspend. The {{!/concord/rules}rules of all structures} hold, and
    its {{!/concord/descriptions}description} says what each operation does in
    each state.

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
  ?idle_time:float ->
  ?lifetime:float ->
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
      each resource leaving the pool. It runs in {!Concord.Tasks.protect},
      because a cancelled task has to release its resource too. By default, it
      does nothing.
    - [keep_after e] returns [true] if a resource can be used again after its
      user raised [e]. It should neither suspend nor raise. By default, it
      returns [false].
    - After a resource was idle for [idle_time] seconds, or was made [lifetime]
      seconds ago, it is stale: the pool doesn't use it again, but disposes of
      it. By default, both are [infinity]. No task waits for these times. When a
      task gives a resource back, it disposes of at most one other stale one.
      Call {!trim} if the pool may be without users for long. A resource in use
      is left alone until it is given back.

    {b Time limits} on [make], [validate] and [dispose] belong into these
    functions, because only they know how to release what is half made. If
    [dispose] hangs, it keeps its task and the resource's slot forever:

    {[
      # let connect () = "a connection" and close (_ : string) = Event.sync Event.never
      val connect : unit -> string = <fun>
      val close : string -> 'a = <fun>
      # let pool =
          Pool.create 1
            ~dispose:(fun c -> ignore (Tasks.with_timeout 0.01 (fun () -> close c)))
            (fun () ->
              match Tasks.with_timeout 5. connect with
              | Some connection -> connection
              | None -> failwith "the database doesn't answer")
      val pool : string Pool.t = <abstr>
      # Pool.use pool String.length
      - : int = 12
      # Pool.close pool (* returns after 0.01 s *)
      - : unit = ()
    ]}

    If [make] has a result instead of an exception, raise one of your own in
    [make], and catch it around {!use}.

    - {b Raises} [Invalid_argument] if [n] is less than 1, or a time is negative
      or not a number. *)

val use : 'a t -> ('a -> 'b) -> 'b
(** [use t f] calls [f v] with a resource [v] of [t], for exclusive use.

    When [f] returns, [v] goes to the first waiting task, or becomes idle. If
    [f] raises, the pool disposes of [v], unless [keep_after] says otherwise. If
    the pool was closed or cleared meanwhile, it always disposes of [v].

    To limit the time until the task has a resource, but not the time of [f],
    use {!use_evt} in {!Concord.Event.sync_before}. If the limit should include
    [make], use {!obtain} in {!Concord.Tasks.with_timeout}.

    {[
      # let pool = Pool.create 1 Fun.id
      val pool : unit Pool.t = <abstr>
      # Pool.use pool (fun () -> Event.sync_before 0.001 (Pool.use_evt pool Fun.id))
      - : unit option = None
    ]}

    - {b Suspends} while [n] resources are in use, and in [make], [validate],
      [f] and [dispose]. If [f] uses the same pool, it may wait forever.
    - {b Cancelled} while it waits for a resource, it has changed nothing, and
      no other waiter loses its turn. If it is cancelled in [make], [validate]
      or [f], the function has failed.
    - {b Order}: waiting tasks are served in the order in which they arrived,
      and newcomers never overtake them. If [make] fails, the first waiting task
      calls [make].
    - {b Raises} the exception of [make], [validate] or [f], after the resource
      was returned or disposed of. Otherwise it raises the exception of
      [dispose]. If [validate] raises, its resource is disposed of.
    - {b Raises} {!Closed} if [t] is closed before the task gets a resource. *)

val try_use : 'a t -> ('a -> 'b) -> 'b option
(** [try_use t f] is [Some w] with the value [w] of {!use}, or [None] if {!use}
    would wait for a resource. Then [f] isn't called.

    - {b Suspends}, is {b cancelled}, and {b raises} as {!use} does once it has
      a resource. *)

val use_evt : 'a t -> ('a -> 'b) -> 'b Event.t
(** [use_evt t f] is the event of {!use}.

    An unchosen alternative takes no resource. [make], [validate] and [f] run
    after the choice. In a choice this isn't a bracket: if a signal handler
    raises just after the choice, the resource stays in use forever. *)

(** {1 Without a bracket}

    Use these where one function can't be the whole use, such as a transaction
    between two requests, or if a result type decides whether the resource is
    intact. Prefer {!use} elsewhere, because it can't forget the resource. *)

type 'a lease
(** The right to use a resource until it is given back. *)

val obtain : 'a t -> 'a lease
(** [obtain t] is the first part of {!use}. The resource is in use until you
    call {!give_back}, once, in any task or domain.

    {[
      # let pool = Pool.create 1 (fun () -> ref 0)
      val pool : int ref Pool.t = <abstr>
      # let count ~intact =
          let lease = Pool.obtain pool in
          incr (Pool.value lease);
          let n = !(Pool.value lease) in
          Pool.give_back ~keep:intact lease;
          n
      val count : intact:bool -> int = <fun>
      # let a = count ~intact:true in let b = count ~intact:false in (a, b, count ~intact:true)
      - : int * int * int = (1, 2, 1)
    ]}

    - {b Suspends}, is {b cancelled}, has the {b order}, and {b raises} as
      {!use} does until it calls [f].
      [Tasks.with_timeout s (fun () -> obtain t)] loses no resource, because a
      function isn't cancelled once it returns. *)

val try_obtain : 'a t -> 'a lease option
(** [try_obtain t] does the same as {!obtain}, or returns [None] if that would
    wait for a resource.

    - {b Suspends} in [make], [validate] and [dispose] only. *)

val obtain_evt : 'a t -> 'a lease Event.t
(** [obtain_evt t] is the event of {!obtain}. [make] and [validate] run after
    the choice. If a signal handler raises just after the choice, the resource
    stays in use forever. *)

val value : 'a lease -> 'a
(** [value lease] is the resource. Don't use it after {!give_back}. *)

val give_back : keep:bool -> 'a lease -> unit
(** [give_back ~keep lease] ends the lease. The resource goes to the first
    waiting task or becomes idle if [keep] is [true]. Otherwise it is disposed
    of, as after a failure.

    - {b Suspends} in [dispose] only.
    - {b Raises} [Invalid_argument] if the lease has ended already. Nothing is
      changed then.
    - {b Raises} the exception of [dispose], when the lease has ended. *)

(** {1 Old resources} *)

val clear : 'a t -> unit
(** [clear t] disposes of all idle resources now, and of those in use or being
    made when they are given back. The pool continues with new ones. Use it when
    all connections are stale, for example after the server has restarted.

    - {b Suspends} in [dispose] only.
    - {b Raises} the first exception of [dispose], after all idle resources were
      disposed of. *)

val trim : 'a t -> unit
(** [trim t] disposes of all idle resources whose [idle_time] or [lifetime] is
    over. Call it now and then from a task of yours:

    {[
      # let trim_until stop pool =
          let rec loop () = Tasks.sleep 10.; Pool.trim pool; loop () in
          match Tasks.unless (Promise.await_evt stop) loop with
          | Ok () | Error () -> ()
      val trim_until : unit Promise.t -> 'a Pool.t -> unit = <fun>
    ]}

    - {b Suspends} and {b raises} as {!clear} does. *)

(** {1 Closing} *)

val close : 'a t -> unit
(** [close t] closes [t], and {!use} raises {!Closed} from then on, also in
    waiting tasks.

    Idle resources are disposed of now, and the others when they are returned.
    If a call of [dispose] raises, the other resources are disposed of all the
    same. A second call does nothing.

    - {b Suspends} in [dispose] only. It doesn't wait for tasks using resources.
      For these, call {!await_closed}. *)

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
(** [size t] is the number of existing resources. It includes the ones that are
    idle, in use, being created or being disposed of. *)

val idle : 'a t -> int
(** [idle t] is the number of unused resources.

    - {b Cost}: O(n). *)

val in_use : 'a t -> int
(** [in_use t] is [size t - idle t].

    - {b Cost}: O(n). *)

val waiters : 'a t -> int
(** [waiters t] is the number of tasks waiting for a resource or for the end,
    for diagnosis. *)

(**/**)

val give_back_after : 'a lease -> exn -> unit
(** [give_back_after lease e] ends the lease after the caller's function raised
    [e], for other styles. It never raises, except for signal handlers, and does
    nothing if the lease has ended. *)
