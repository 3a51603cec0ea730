(** Running several functions at once, on any host.

    {b Stability}: stable.

    Your code doesn't need to know its {e host}, the scheduler or thread running
    it. Each of these functions returns only after its tasks have ended, so no
    task is left behind.

    {[
      # let box = Mvar.create_empty () in
        Tasks.both (fun () -> Mvar.take box) (fun () -> Mvar.put box "hello")
      - : string * unit = ("hello", ())
    ]}

    {!Scope} describes which tasks these are, and how they end. Use a scope
    directly if you don't know in advance how many tasks you need.

    See also the pages on {{!/concord/eio}Eio}, {{!/concord/lwt}Lwt} and
    {{!/concord/domainslib}Domainslib}.

    {1 What can be cancelled}

    If a task fails, the others are cancelled, and the function waits for their
    end. How long this takes depends on the host.

    - On {!Concord_fifo}, and on Eio with [concord-eio], a task is cancelled
      wherever it waits.
    - On other hosts, the tasks are those of a {!Concord_fifo} inside the
      calling task. (Examples are threads, domains, Domainslib pools,
      [Lwt_direct], [direct] of Lwt and Async, and Eio without [concord-eio].)
      Operations of this library are cancelled there too. But the host's own
      blocking calls, such as [Unix.sleep], [Task.await] and [Lwt_direct.await],
      can't be cancelled. They also delay the other tasks and timeouts until
      they return.
    - If a host starts tasks itself but can't cancel them, they run to their
      end.
    - A task that computes, or is in {!protect}, continues until it next waits
      outside {!protect}.

    All functions under "Several functions", "Lists" and "Time", except
    {!sleep}, open a {!Scope}, and these rules hold for them:

    - {b Suspends} until all tasks have ended, even if none of the functions has
      to wait.
    - {b Cancelled} meanwhile, they cancel all of their tasks, and then raise
      the host's exception. If the caller is cancelled already, they raise it
      too. {!Concord_fifo}, and Eio with [concord-eio], call none of the
      functions then. Other hosts may call them, and raise where one of them
      waits.
    - {b Cost}: a {!Scope.run}, and a task for each function but one.
    - {b Raises} [e] if one of the functions raises [e], after the others were
      cancelled and have ended. If several raise, the first exception counts. *)

(** {1 Several functions} *)

val both : (unit -> 'a) -> (unit -> 'b) -> 'a * 'b
(** [both f g] runs [f ()] and [g ()] at once, and returns both values. [f]
    begins first, in a new task, and the calling task runs [g]. *)

val all : (unit -> 'a) list -> 'a list
(** [all fs] runs all functions of the list at once, and returns their values in
    the order of the list.

    They begin in this order. The calling task runs the last one, and the others
    run in new tasks.

    {[
      # let double n () = 2 * n in
        Tasks.all (List.map double [ 1; 2; 3 ])
      - : int list = [2; 4; 6]
    ]} *)

val first : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) -> (unit -> 'a) -> 'a
(** [first f g] runs [f ()] and [g ()] at once, and returns the value of
    whichever returns first. The other one is cancelled, and [first] waits until
    it is unwound.

    {[
      # let box = Mvar.create_empty () in
        Tasks.first (fun () -> Mvar.take box) (fun () -> "nobody was faster")
      - : string = "nobody was faster"
    ]}

    Sometimes both return, because the second one was already resumed when it
    was cancelled. In this case, the result is [combine v w], where [v] came
    first. By default it is [v], and [w] is lost. If you wait for the first of
    several {e operations}, use {!Event.select} instead. It performs exactly one
    of them, loses nothing and needs no tasks.

    [f] begins first, in a new task. If [f] returns before [g] begins, [g] isn't
    called.

    - {b Cancelled} after one of them has returned a value, [first] returns the
      value, and the next suspension raises.
    - {b Raises} [e] if [f] or [g] raises [e], even if the other one has already
      returned. *)

val any : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) list -> 'a
(** [any fs] does the same as {!first} for any number of functions.

    They begin in the order of the list. Once one of them has returned, no other
    begins. Like {!first}, it is Eio's function: if one of them raises, so does
    [any]. To pass over failures, use {!hedge}.

    {[
      # let after seconds v () = Tasks.sleep seconds; v in
        Tasks.any [ after 60. "slow"; after 0.001 "fast"; after 60. "slow" ]
      - : string = "fast"
    ]}

    - {b Raises} [Invalid_argument] if [fs] is empty. *)

val hedge : ?delay:float -> (unit -> 'a) list -> 'a
(** [hedge ~delay fs] is the value of the first function of [fs] to succeed.

    It calls the first function. If it has failed, or hasn't returned after
    [delay] seconds, [hedge] calls the next one beside it, and so on. Once one
    has returned, the others are cancelled, and [hedge] waits until they are
    unwound. By default [delay] is [infinity], so a function is called only if
    the one before has failed. With 0, all are called at once.

    {[
      # let replica seconds answer () = Tasks.sleep seconds; answer in
        Tasks.hedge ~delay:0.001
          [ replica 60. "slow"; (fun () -> failwith "down"); replica 0. "fast" ]
      - : string = "fast"
    ]}

    - {b Suspends} the calling task until then.
    - {b Cancelled}, it cancels the functions, and raises after they are
      unwound, unless one has returned a value.
    - {b Cost}: a {!Scope.run}, and a task for each called function.
    - {b Raises} the first exception, if all functions have failed.
    - {b Raises} [Invalid_argument] if [fs] is empty, or [delay] is negative or
      not a number. *)

val retry :
  ?attempts:int ->
  ?delay:float ->
  ?most:float ->
  ?on:(exn -> bool) ->
  (unit -> 'a) ->
  'a
(** [retry f] is [f ()], which is called again if it fails, up to [attempts]
    times in all (5 by default).

    After the first failure it waits for [delay] seconds (0.1 by default), then
    for twice as long each time, but at most for [most] seconds (10 by default).
    From each of these times a random part of up to a half is subtracted, to
    keep callers that failed together from coming back together. A failure [e]
    for which [on e] is [false] isn't tried again, nor is one where the wait
    would end after the caller's deadline ({!with_deadline}). The caller's
    cancellation is never tried again.

    {[
      # let calls = ref 0 in
        Tasks.retry ~delay:0.001 (fun () ->
          incr calls;
          if !calls < 3 then failwith "not yet" else !calls)
      - : int = 3
    ]}

    - {b Suspends} between two calls, and where [f] does.
    - {b Cancelled} while suspended, it raises the host's exception.
    - {b Raises} [e] if the last call of [f] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] if [attempts] is less than 1, or a time is
      negative or not a number. *)

(** {1 Lists} *)

val iter : ?max_tasks:int -> ('a -> unit) -> 'a list -> unit
(** [iter f xs] calls [f x] for each [x] of the list at once, in a task each.

    With [~max_tasks:n], at most [n] tasks run at a time. The calling task is
    one of them. The calls begin in the order of the list.

    {[
      # let at_once = ref 0 and most = ref 0 in
        Tasks.iter ~max_tasks:3
          (fun _ ->
            incr at_once;
            most := max !most !at_once;
            Tasks.yield ();
            decr at_once)
          (List.init 10 Fun.id);
        !most
      - : int = 3
    ]}

    Once a call has failed, or the caller was cancelled, no other call begins.
    This holds even if [f] computes or ignores its cancellation. (A
    {!Concord_fifo} inside another host's task is cancelled when it next waits
    or lets the host run.) If all calls had begun by then, and each of them
    returns, [iter] may return normally.

    - {b Cost}: while tasks are started, other tasks of the host run after each
      millisecond. If [max_tasks] is less than the length of the list, each call
      also costs an effect, and on Eio it waits for a turn.
    - {b Raises} [Invalid_argument] if [max_tasks < 1]. *)

val map : ?max_tasks:int -> ('a -> 'b) -> 'a list -> 'b list
(** [map f xs] does the same as {!iter}, and returns the values of [f] in the
    order of the list.

    {[
      # Tasks.map ~max_tasks:2 String.uppercase_ascii [ "a"; "b"; "c" ]
      - : string list = ["A"; "B"; "C"]
    ]} *)

(** {1 Time} *)

val with_timeout : float -> (unit -> 'a) -> 'a option
(** [with_timeout seconds f] calls [f ()] and returns [Some v], or cancels [f]
    and returns [None] if the call takes longer than [seconds].

    [f] runs in the calling task. If it is cancelled, [with_timeout] returns
    after [f] is unwound.

    {[
      # let box : int Mvar.t = Mvar.create_empty () in
        Tasks.with_timeout 0.001 (fun () ->
          Fun.protect ~finally:(fun () -> print_endline "unwound") (fun () -> Mvar.take box))
      unwound
      - : int option = None
      # Tasks.with_timeout 60. (fun () -> 6 * 7)
      - : int option = Some 42
    ]}

    If you wait for a single operation, use {!Event.sync_before}, because it
    needs no task.

    If [f] returns, its value is always the result, however late. Nothing is
    lost if [f] ends at the same moment, or ignores its cancellation. The time
    counts from the call. If [seconds] is not positive, [f] is cancelled where
    it first waits. If it is [infinity], [f] is never cancelled. If [f] has
    returned in time, [with_timeout] waits without a limit for tasks [f] forked
    in the scope with {!Concord_fifo.fork}.

    - {b Cancelled} after [f] has returned, [with_timeout] returns too, and the
      next suspension raises.
    - {b Cost}: a {!Scope.run} and a timeout. On a host that starts the tasks of
      scopes itself, other than {!Concord_fifo}, also a task. In Eio with
      [concord-eio], it costs about as much as Eio's own timeouts.
    - {b Raises} [e] if [f] raises [e], even while it is unwound.
    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

val unless : 'e Event.t -> (unit -> 'a) -> ('a, 'e) result
(** [unless event f] is [Ok (f ())]. But if [event] happens before [f] has
    returned, [f] is cancelled, and the result is [Error v], where [v] is the
    event's value.

    {[
      # let stop = Promise.of_value "shutdown" in
        Tasks.unless (Promise.await_evt stop) (fun () -> Tasks.sleep 60.)
      - : (unit, string) result = Error "shutdown"
    ]}

    [f] runs in the calling task, and is called even if the event can happen at
    once. If [f] returns, its value is always the result, however late, as in
    {!with_timeout}. The event's value is then lost if it has happened at the
    same moment. Choose an event that takes nothing away, such as
    {!Promise.await_evt}, {!Watch.changed_evt} or {!Event.timeout}.

    - {b Suspends}, is {b cancelled}, and {b raises} as {!with_timeout} does.
    - {b Raises} [e] if the event raises [e]. [f] is cancelled before. *)

val with_deadline : float -> (unit -> 'a) -> 'a option
(** [with_deadline seconds f] is {!with_timeout}, but [f], and all code working
    for it, can ask how much time is left ({!time_left}).

    The deadline is a value of {!Local}. It follows the request to jobs, threads
    and other loops, which cancelling [f] doesn't reach at once. There, a
    [with_deadline] never ends later than the deadline of the task it works for:

    {[
      # Workers.with_workers ~domains:1 (fun workers ->
          Option.join
            (Tasks.with_deadline 0.01 (fun () ->
                Workers.run workers (fun () ->
                    (* it waits for 0.01 s, not for 60 s *)
                    Tasks.with_deadline 60. (fun () -> Event.sync Event.never)))))
      - : 'a option = None
    ]}

    - {b Suspends}, is {b cancelled}, and {b raises} as {!with_timeout} does.
    - {b Cost}: a {!with_timeout} and a {!Local.with_binding}. *)

val time_left : unit -> float option
(** [time_left ()] is the number of seconds until the caller's deadline, which
    is the earliest one of the {!with_deadline}s around it. It is [Some 0.] once
    the deadline has passed, and [None] if there is none.

    Pass it on to what can't be cancelled: a [statement_timeout] of a database,
    a timeout of [BLPOP], or a header of a request to the next service.

    {[
      # let timeout () =
          match Tasks.time_left () with
          | Some seconds -> Printf.sprintf "timeout: %.0f" seconds
          | None -> "no timeout"
      val timeout : unit -> string = <fun>
      # Tasks.with_deadline 2. timeout
      - : string option = Some "timeout: 2"
      # timeout ()
      - : string = "no timeout"
    ]}

    - {b Suspends} never.
    - {b Cost}: a {!Local.get}. *)

val sleep : float -> unit
(** [sleep seconds] is [Event.sync (Event.timeout seconds)].

    - {b Suspends} the calling task for [seconds], but not its thread.

    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

val yield : unit -> unit
(** [yield ()] lets other ready tasks of the caller's host run. In a thread
    without a scheduler, it lets other threads of its domain run.

    {[
      # Concord_fifo.run (fun () ->
          Tasks.both
            (fun () -> print_endline "a"; Tasks.yield (); print_endline "c")
            (fun () -> print_endline "b"))
      a
      b
      c
      - : unit * unit = ((), ())
    ]}

    - {b Suspends} the calling task until it runs again.
    - {b Cancelled} meanwhile, it raises the host's exception.
    - {b Order}: on {!Concord_fifo} and Eio, the caller continues after all
      ready tasks.
    - {b Cost}: a suspension. In a Domainslib pool known to [concord-domainslib]
      (it was attached, or got a job), a job.

    In other pools, and in Eio without [concord-eio], the thread of the timeouts
    wakes the task. This takes about 0.1 ms. On the domain in
    [Domainslib.Task.run] it can take 50 ms, because this domain delays that
    thread. If that thread is faster than the task, the other tasks don't run
    this time, and a cancelled fiber doesn't learn of its cancellation. Yield
    until something has happened, but don't count the turns. *)

(** {1 Cancellation} *)

val protect : (unit -> 'a) -> 'a
(** [protect f] calls [f ()] and delays cancellation until [f] has returned. If
    the task is cancelled meanwhile, the first suspension after [protect]
    raises.

    Only the innermost host with cancellation delays it. In a Domainslib task,
    and in an Eio fiber if [concord-eio] isn't linked, [protect] just calls [f].

    - {b Suspends} only where [f] does.
    - {b Cost}: one effect. If the host doesn't know
      {!Concord.Tools.Suspend.extension-Protect}, the effect comes back as an
      exception, and the host is searched for as in
      {!Concord.Tools.Suspend.suspend}.
    - {b Raises} [e] if [f] raises [e]. *)

val is_cancelled : unit -> bool
(** [is_cancelled ()] is [true] if the next suspension of the calling task would
    raise its host's cancellation. It is [false] in {!protect}, and on hosts
    without cancellation.

    - {b Suspends} no task, but the host may let other tasks run.
    - {b Cost}: a suspension that continues at once. *)

val is_cancellation : exn -> bool
(** [is_cancellation e] is [true] if [e] is an exception by which a host cancels
    its tasks, whichever host that is. Use it if you handle all exceptions but
    cancellations, in code that runs on any host:

    {[
      # let logged f =
          try f () with
          | e when not (Tasks.is_cancellation e) ->
              print_endline (Printexc.to_string e)
      val logged : (unit -> unit) -> unit = <fun>
      # logged (fun () -> failwith "not found")
      Failure("not found")
      - : unit = ()
      # Concord_fifo.run (fun () ->
          Tasks.with_timeout 0.001 (fun () -> logged (fun () -> Event.sync Event.never)))
      - : unit option = None
    ]}

    It knows [Cancelled] of {!Scope}, {!Workers} and {!Concord_fifo}, and of
    [Concord_policies], and [Ended] of [Concord_styles]. The adapters add
    [Eio.Cancel.Cancelled], [Lwt.Canceled], [Miou.Cancelled] and Picos'
    [Control.Terminate], so your program has to link them. A fiber of Picos that
    is cancelled by another exception isn't recognised.

    - {b Cost}: O(n) for [n] hosts. *)

val cancels_by : (exn -> bool) -> unit
(** [cancels_by is] adds [is] to the functions that {!is_cancellation} asks. It
    is for authors of schedulers.

    [is e] has to be [true] for the exceptions by which your scheduler cancels
    its tasks, and for no other. It must neither raise nor suspend. Call
    [cancels_by] once, when your library is initialised. *)
