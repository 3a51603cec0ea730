(** A condition variable with a value, and without a mutex.

    {b Stability}: stable.

    A broadcast variable gives a value to the tasks waiting at this moment. It
    keeps nothing for later tasks. If later tasks should see the value too, use
    a {!Promise}, an {!Concord.Mvar}, a {!Concord.Watch} or a
    {!Concord.Broadcast}.

    {[
      # let news : string Bvar.t = Bvar.create ()
      val news : string Bvar.t = <abstr>
      # let reader = Domain.spawn (fun () -> Bvar.wait news)
      val reader : string Domain.t = <abstr>
      # while Bvar.waiters news = 0 do Domain.cpu_relax () done;
        Bvar.broadcast news "it rains"; Domain.join reader
      - : string = "it rains"
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    It is Lwt's [Lwt_condition] and Async's [Bvar], for tasks of any hosts. See
    also the pages on {{!/concord/lwt}Lwt} and {{!/concord/async}Async}. *)

type 'a t
(** A variable for values of type ['a]. *)

val create : ?name:string -> unit -> 'a t
(** [create ()] returns a variable for which no task waits. Reports call it by
    its [name]. *)

val wait : 'a t -> 'a
(** [wait t] waits until {!broadcast} or {!signal} gives the task a value, and
    returns the value.

    - {b Suspends}, always.
    - {b Raises} [e] if {!broadcast_exn} gives [e]. *)

val signal : 'a t -> 'a -> bool
(** [signal t v] gives [v] to the task that has waited longest, and returns
    [true]. If no task waits, it drops [v] and returns [false]. *)

val broadcast : 'a t -> 'a -> unit
(** [broadcast t v] gives [v] to all waiting tasks. *)

val broadcast_exn : 'a t -> exn -> unit
(** [broadcast_exn t e] makes {!wait} raise [e] in all waiting tasks. *)

val wait_evt : 'a t -> 'a Event.t
(** [wait_evt t] is the event of {!wait}.

    If a value comes, the choice performs this event. If the choice has already
    taken another alternative, {!signal} gives the value to the next task.

    A choice begins to wait for it after its other alternatives. If the choice
    also has a {!Condition.loop_no_mutex_evt}, and this event woke the task in
    vain, it may miss a value. {!Concord.Event.poll} never performs it. *)

val waiters : 'a t -> int
(** [waiters t] is the number of waiting tasks, for diagnosis. *)

(**/**)

val signal_step :
  'a -> (unit, 'a) Waiters.t -> ((unit, 'a) Waiters.t, bool) Step.t

val broadcast_step :
  ('a, exn) result ->
  (unit, 'a) Waiters.t ->
  ((unit, 'a) Waiters.t, unit) Step.t

val queue : ((unit, 'a) Waiters.t, unit, 'a) Step.queue
val waiting : ((unit, 'a) Waiters.t Atomic.t, unit, 'a) Operation.t
