(** Parts of schedulers, and plug-ins for schedulers.

    {b Stability}: experimental, because it shows how the library works inside,
    and a faster wait may change it.

    A scheduler becomes a host by handling
    {!Concord.Tools.Suspend.extension-Suspend}. The contract is in
    {!Concord.Tools.Suspend}, and you can keep it without this module. But some
    parts of a host are hard to get right, and this module has them. For
    schedulers that don't know the effect, it has plug-ins.

    The scheduler below runs functions by turns. Their operations suspend them.
    While no function is ready, the loop suspends the task it runs in, on
    whatever host:

    {[
    let run tasks =
      let open Concord.Tools.Host_kit in
      let host = create () and ready = Inbox.create () in
      let bell = Atomic.make (fun _ -> false) in
      let unfinished = ref (List.length tasks) in
      let ring = function
        | Inbox.Refused -> false
        | Posted -> true
        | Posted_to_sleeper ->
            ignore ((Atomic.get bell) (Ok ()) : bool);
            true
      in
      let suspend block k =
        let decision = Decision.create () in
        let continue () =
          match Decision.outcome decision with
          | Ok v -> Effect.Deep.continue k v
          | Error e -> Effect.Deep.discontinue k e
        in
        let resumer outcome =
          ring (Inbox.decide_and_post ready decision outcome continue)
        in
        let outcome = Decision.offer decision resumer block in
        if not (Decision.is_undecided outcome) then continue ()
      in
      let effc (type a) (e : a Effect.t) =
        match e with
        | Concord.Tools.Suspend.Suspend block ->
            Some
              (fun (k : (a, _) Effect.Deep.continuation) ->
                if is_innermost host then suspend block k
                else Effect.Deep.discontinue k (Effect.Unhandled e))
        | _ -> None
      in
      let retc () = decr unfinished in
      let start task () =
        Effect.Deep.match_with task () { retc; exnc = raise; effc }
      in
      let post task = ignore (Inbox.post ready (start task) : Inbox.posted) in
      let sleep resumer =
        Atomic.set bell resumer;
        if Inbox.fall_asleep ready then None else Some ()
      in
      let rec loop () =
        using host (fun () ->
            while Inbox.serve ready (fun job -> job ()) do
              ()
            done);
        if !unfinished > 0 then begin
          Concord.Tools.Suspend.suspend sleep;
          Inbox.wake_up ready;
          loop ()
        end
      in
      List.iter post tasks;
      loop ()
    ]}

    {[
      # let by_task = Mvar.create_empty () and by_domain = Mvar.create_empty () in
        let domain = Domain.spawn (fun () -> Mvar.put by_domain "hello") in
        run
          [
            (fun () -> print_endline (Mvar.take by_task));
            (fun () -> Mvar.put by_task (Mvar.take by_domain));
          ];
        Domain.join domain
      hello
      - : unit = ()
    ]}

    It has no cancellation, and a failing task ends the loop. The page
    {{!page-schedulers}for authors of schedulers} has a complete one, and the
    command to test yours.

    The library's own hosts and plug-ins are made of the same parts. But several
    of them also use functions of {!Concord.Private}, mostly for their reports
    and for speed, and these can change in any release.

    See also the page on {{!/concord/picos}Picos}.

    @canonical Concord.Tools.Host_kit *)

(** {1 Parts of a host} *)

module Decision = Decision
module Inbox = Inbox
module Turn = Turn

(** How long a loop spins before it sleeps.

    A message between two domains spends most of its time waking a sleeping
    thread. A loop therefore spins for a while before it sleeps, unless there is
    no other core to make something ready meanwhile. It learns from its last
    waits. After it has spun in vain [n] times in a row (up to 9), it does not
    spin in the next 2{^ n} - 1 waits. If spinning gained something, [n] is
    halved, and the next wait spins again.

    {[
      # let spin = Tools.Host_kit.Spin.create ()
      val spin : Tools.Host_kit.Spin.t = <abstr>
      # let wait ready sleep =
          if not (Tools.Host_kit.Spin.until spin ready) then sleep ()
      val wait : (unit -> bool) -> (unit -> unit) -> unit = <fun>
    ]} *)
module Spin : sig
  type t = Spin.t
  (** The learned state of one loop, or of the threads of one domain.

      Only these may use it. One of them spins at a time. *)

  val create : unit -> t
  (** [create ()] is a state without experience. *)

  val until : ?prepare:(unit -> unit) -> t -> (unit -> bool) -> bool
  (** [until ~prepare t ready] calls [prepare ()], and then calls [ready ()] up
      to 2,000 times, until it is [true], and returns whether it was.

      This takes 30 to 70 microseconds at most, which is longer than it takes to
      wake a thread. [ready] has to be cheap. If the loop should not spin,
      [until] calls neither. The domain's other ready threads run meanwhile.

      - {b Raises} [e] if [prepare ()] or [ready ()] raises [e]. *)
end

(** The identity of a task, for reports of which task waits for which
    ({!Concord.Tools.Debug}).

    {[
      # let task number =
          let name = Printf.sprintf "task %d" number in
          Tools.Host_kit.Who.make ~host:"rounds" ~name (ref number)
      val task : int -> Tools.Host_kit.Who.t = <fun>
    ]} *)
module Who : sig
  type t = Who.t
  (** A task. *)

  val make : ?domain:int -> host:string -> name:string -> 'identity -> t
  (** [make ~host:"eio" ~name:"fiber 12" identity] is a task.

      [identity] is a value only this task has, and always the same. It is not
      kept alive. It must not be an integer or the like, because this doesn't
      tell one task from another. [domain] is by default the calling one.

      Each call makes a weak pointer, and the library asks for a task whenever
      the task takes a lock while waits are kept. Make it once for each task if
      you can keep it with the task. *)

  val unknown : string -> t
  (** [unknown host] is a task of the host, equal to no other task. *)

  val answer : 'a Effect.t -> otherwise:'a -> (unit -> t) -> 'a
  (** [answer question ~otherwise who] is the answer to
      [Ask { question; otherwise }], for a scheduler that handles
      {!Concord.Tools.Suspend}.

      The scheduler continues [Ask] with it, which tells its tasks apart.
      [who ()] is the asking task. If a scheduler answers [otherwise], its tasks
      are unknown. *)
end

val weakly : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
(** [weakly resumer] is [resumer], but doesn't keep it alive while the program
    looks for leaks (see {!Concord.Tools.Suspend.Never_resumed}).

    Then it answers [false] once [resumer] has been collected. Use it for the
    function your host keeps to cancel a waiting task. The reason: only the
    resumer passed to [block] may keep the continuation alive. *)

val suspend_thread : ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [suspend_thread block] is {!Concord.Tools.Suspend.suspend}, but it blocks
    the calling thread, whatever its scheduler, on a condition variable of its
    own.

    Use it for a loop that can't suspend the task around it.

    - {b Suspends} the thread. The domain's other threads continue.
    - {b Cancelled} if a signal handler raises while the thread waits. If the
      thread was resumed before, its next wait raises the exception.
    - {b Raises} [e] if the resumer was called with [Error e], or [block] raised
      [e]. *)

type spinning = Spinning.host = {
  check : unit -> unit;
      (** [check ()] raises {!Elsewhere}, as [suspend] would, or the
          cancellation of the calling task. *)
  turn : (exn -> bool) -> unit;
      (** [turn cancel] lets the loop's other tasks run. If the calling task is
          cancelled with [e], before or meanwhile, [cancel e] is called at once,
          and [turn] returns. It performs an effect made for this call, and not
          a constant. *)
  suspend :
    'a. cancel:(exn -> bool) -> ('a Concord_suspend.resumer -> 'a option) -> 'a;
      (** [suspend ~cancel block] is a plug-in's [suspend], but the task is
          cancelled with [e] only if [cancel e] is [true]. Otherwise it was
          resumed, and the resumer is about to be called. *)
}
(** How a task spins, and how it then sleeps. *)

val spin_first :
  Spin.t -> spinning -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [spin_first spin host block] is [host.suspend block], for a plug-in, but the
    task may spin first.

    [spin] is shared by the tasks of one loop. If [spin] says so, the task
    itself calls [block], and has up to 400 turns. After each turn it checks
    whether it was resumed. Its loop then doesn't sleep when another domain
    resumes it soon, because waking the loop would take a hundred times as long.

    One task of a loop spins at a time, and only while it pays. It doesn't spin
    if one of the loop's tasks began to wait earlier and is asleep. Tasks
    resumed together by a sibling therefore continue in the order in which it
    resumes them. The task has at least one turn, whatever [block] returns. *)

(** {1 Schedulers that handle [Suspend]}

    One of your scheduler's tasks may start another scheduler's loop
    ([Eio_main.run], [Domainslib.Task.run]), which doesn't handle [Suspend]. The
    effects of its tasks then reach your handler, although you are not their
    host. Therefore run your loop inside {!using}, ask {!is_innermost} before
    you handle an effect, and refuse the effect if the answer is [false]. *)

type t
(** One scheduler's loop. *)

val create : unit -> t
(** [create ()] is a loop that isn't running.

    Make one for each run of your scheduler. O(1). *)

val using :
  ?outside:((unit Concord_suspend.resumer -> unit option) -> unit) ->
  t ->
  (unit -> 'a) ->
  'a
(** [using t loop] is [loop ()], with [t] registered as this thread's innermost
    scheduler, also for the users of [Domain_local_await].

    Leave [using] before the loop sleeps (by {!Concord.Tools.Suspend.suspend},
    outside your handler). Enter it again afterwards, because the task with the
    loop may continue on another domain.

    [outside block] handles a wait in the loop but outside of its tasks, such as
    in a callback from C. [outside] does the same as a host, or calls {!refuse}
    if it would suspend. By default it blocks the thread, or raises
    {!Concord.Tools.Suspend.In_handler} if nothing is left to wake it.

    - {b Suspends} the calling task before [loop] begins, for a moment. This
      happens only if it is not known whether the domain's registered scheduler
      runs in the calling thread.
    - {b Cancelled} at this moment, like any suspension. *)

val is_innermost : t -> bool
(** [is_innermost t] is [false] if a foreign scheduler's loop runs between the
    calling handler and the task performing the effect [e].

    Then call [discontinue k (Effect.Unhandled e)]. The thread with the loop of
    [t] has to call it, inside {!using}. It raises nothing.

    - {b Cost}: one comparison, unless a scheduler was started, or a task used
      [Domain_local_await], on this domain since the last call. However, if the
      library was used only inside foreign schedulers on this domain, as in a
      pool, it asks [Domain_local_await] each time. *)

val refuse : exn -> 'a
(** [refuse e] raises [e], for code that has to wait where your scheduler can't
    suspend it.

    Use it in [outside], or in a plug-in. If the computation of a lazy value is
    refused, the value has not failed, whatever exception the computation raises
    then. The next task computes it again. *)

(** {1 Schedulers that do not handle [Suspend]}

    A plug-in suspends the tasks of such a scheduler by the scheduler's own
    means. *)

exception Elsewhere
(** A plug-in raises [Elsewhere] if it was called outside its scheduler. *)

type plugin = Plugin.t = {
  name : string;  (** The name of the scheduler, for messages. *)
  sample : Domain_local_await.t option;
      (** One of the scheduler's triggers, if it registers itself with
          [Domain_local_await]. The code of the trigger's [await] tells the
          scheduler's triggers from those of others. It is not called. *)
  takes_every_effect : bool;
      (** [true] if the scheduler takes even those effects from its tasks that
          it doesn't know. Then only the plug-in performs effects in its tasks.
      *)
  suspend : 'a. ('a Concord_suspend.resumer -> 'a option) -> 'a;
      (** [suspend block] suspends as a handler of
          {!Concord.Tools.Suspend.extension-Suspend} would, by H1 to H4. In any
          case, [suspend] performs an effect of the scheduler, because the
          effect shows where the task ends. The last effect that lets other
          tasks continue before it returns is made for this call, and isn't a
          constant.

          - {b Raises} {!Elsewhere} without having called [block], if the
            calling task is not one of the scheduler's. *)
  protect : 'a. (unit -> 'a) -> 'a;
      (** [protect f] is {!Concord.Tasks.protect}.

          - {b Raises} {!Elsewhere} without having called the function, as
            above. *)
  scopes : Concord_suspend.scopes option;
      (** The answer a handler of {!Concord.Tools.Suspend.extension-Scopes}
          would give. It is used in the scheduler's tasks only. *)
}
(** A plug-in, for a scheduler you haven't written. It says how to suspend the
    scheduler's tasks.

    {b Order.} The innermost scheduler is known if it is registered, by itself
    or by {!using_plugin}. Then its plug-in is asked first. If a plug-in raises
    {!Elsewhere}, or nothing is registered in a thread, the other plug-ins are
    asked in the order in which they were added. This order is not the nesting,
    because a plug-in whose scheduler runs further out answers too. Run a loop
    with {!using_plugin} if it is inside another scheduler's task and its own
    scheduler doesn't register itself. A loop outside of all tasks needs
    nothing.

    {b Effects.} [Suspend] is performed first, which finds any handler, even if
    it is not registered. It is not performed if the innermost handler is known
    to be Eio's, because Eio doesn't handle it. It is not performed in the tasks
    of a scheduler that takes every effect either. Such a scheduler is found
    because it is registered, or by asking its plug-in in a thread in which
    nothing is registered. A scheduler inside one of its tasks is found only if
    it is registered by itself, by {!using} or by {!using_plugin}.

    {b Cost} of a scheduler that takes every effect: a read for each suspension
    if no such plug-in is linked. If one is, each suspension in the program, on
    whatever host, first asks [Domain_local_await] (50 to 100 ns), unless a
    scheduler of {!using} is known to be the innermost. *)

val plug_in : ?who:(unit -> Who.t) -> plugin -> unit
(** [plug_in ~who plugin] adds a plug-in, for the whole program.

    Plug-ins cannot be removed. Call it when your library is initialised. In
    your library's dune file write [(library_flags (-linkall))], because
    otherwise the linker leaves the library out of programs that don't name it.
    O(n) for [n] plug-ins.

    [who ()] is the calling task, for {!Concord.Tools.Debug}. Without [who] the
    scheduler's tasks are not told apart. If the scheduler takes every effect,
    [who] must perform none. *)

val using_plugin : plugin -> (unit -> 'a) -> 'a
(** [using_plugin plugin loop] is [loop ()], with the scheduler registered as
    this thread's innermost one, also for the users of [Domain_local_await].

    [loop] runs the scheduler's loop on the calling thread, and nothing else. It
    doesn't suspend the calling task, except by blocking the thread. If the
    scheduler takes every effect, the domains spawned by [loop] know of it too.

    - {b Suspends} and is {b cancelled} like {!using}, before [loop] begins. *)

(** {1 Asking the host}

    For libraries that start tasks, or look at their own stack. *)

val scopes : unit -> Concord_suspend.scopes option
(** [scopes ()] is the function by which the calling task's host starts tasks.

    It is [None] if the host has none. It suspends no task, but a host may let
    other tasks run.

    - {b Raises} the host's exception, if the task is cancelled. *)

type passing = Probe.passing = { passing : 'b. 'b Effect.t -> unit }
(** A function to call before an effect is performed. *)

type host = Asking.host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is no scheduler, so the system thread would be blocked. *)

val probe : passing -> host
(** [probe passing] performs the effects of a suspension of the calling task,
    but doesn't suspend the task.

    It calls [passing] with each effect before it is performed. The handlers
    passed by the last effect are the task's own, and would be suspended with
    it. In this way {!Concord.Lazy} knows the lazy values a task is forcing
    itself.

    If a scheduler registered itself with [Domain_local_await], it may block the
    thread without performing an effect. Then the answer is {!Parks}. It takes
    some 20 ms, because the thread is given 50 turns in which it could perform
    one. A slow task, on a busy machine, gets the same answer.

    - {b Raises} the host's exception, if the task is cancelled. *)

val may_be_woken : asleep:int -> bool
(** [may_be_woken ~asleep] is [false] if nothing is left to resume a task
    waiting on the calling thread.

    Then waiting on would be a deadlock. The answer is [false] if there is none
    of these:

    - a host of which the calling task is one task among others;
    - a pending timeout;
    - another domain;
    - another thread, except for [asleep] threads that are known to wait
      themselves, and threads of [Concord_aio] while they have nothing to do.

    Signal handlers do not count. Before you report a deadlock, check again
    whether a task is ready, because the last thread able to resume it may have
    done so meanwhile.

    The answer is [true] if it is not known. This is so outside Linux, in
    another domain than the main one, and once another library has started a
    thread of its own. It is also so for a moment after a thread has ended or
    has finished its work, so ask again later.

    - {b Suspends} no task, but a host may let other tasks run.
    - {b Cost}: some microseconds. It can take some milliseconds if all depends
      on a [Concord_aio] thread about to have nothing to do. *)
