(** For authors of schedulers, and of plug-ins for schedulers.

    {b Stability}: experimental, may change in any release.

    A scheduler becomes a host by handling
    {!Concord.Tools.Suspend.extension-Suspend}: the contract is in
    {!Concord.Tools.Suspend}, and needs nothing of this module. Here are the
    parts that hosts have in common and that are hard to get right, and the
    plug-ins of schedulers that do not know the effect. The library's own hosts
    and plug-ins are made of the same parts. But several of them also use
    functions of {!Concord.Private}, mostly for their reports and for speed, and
    these can change in any release.

    This scheduler runs functions by turns. Their operations suspend them, and
    while none is ready the loop suspends the task that it runs in, on whatever
    host:

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

    It has no cancellation, and a task that fails ends the loop. The page
    {{!page-schedulers}for authors of schedulers} has a complete one, and the
    command that tests yours.

    @canonical Concord.Tools.Host_kit *)

(** {1 Parts of a host} *)

module Decision = Decision
(** The one decision between resuming a task and cancelling it (H3). *)

module Inbox = Inbox
(** What other threads made ready, and the bell that wakes the loop (H4). *)

(** How long a loop spins before it sleeps.

    Between two domains most of the time goes into waking a thread that sleeps.
    So a loop spins for a while before it sleeps, unless there is no other core
    that could make something ready meanwhile. It learns from its last waits:
    after it has spun in vain [n] times in a row (up to 9), it does not spin in
    the next 2{^ n} - 1 waits. If spinning gained something, [n] is halved, and
    the next wait spins again. *)
module Spin : sig
  type t = Spin.t
  (** What one loop has learned, or the threads of one domain; for these only.
      One of them spins at a time. *)

  val create : unit -> t
  (** Nothing was learned yet. *)

  val until : ?prepare:(unit -> unit) -> t -> (unit -> bool) -> bool
  (** [until ~prepare t ready] calls [prepare ()], and then [ready ()] up to
      2,000 times, until it is [true], and returns whether it was. That takes 30
      to 70 microseconds at most, which is longer than it takes to wake a
      thread. [ready] is cheap. If the loop should not spin, it calls neither.
      Other threads of the domain that are ready have their turns meanwhile.

      - {b Raises} [e] if [prepare ()], [ready ()] or a signal handler raises
        [e]. *)
end

(** Which task is this? For reports of who waits for whom
    ({!Concord.Tools.Debug}). *)
module Who : sig
  type t = Who.t
  (** A task. *)

  val make : ?domain:int -> host:string -> name:string -> 'identity -> t
  (** [make ~host:"eio" ~name:"fiber 12" identity]: [identity] is something that
      only this task has, and always the same; it is not kept alive. An integer
      or the like tells no task from another. The domain is by default the
      calling one. Each call makes a weak pointer, and a task is asked whenever
      it takes a lock while waits are kept. So make it once for each task if you
      can keep it with the task. *)

  val unknown : string -> t
  (** [unknown host] is a task of that host, the same as no other. *)

  val answer : 'a Effect.t -> otherwise:'a -> (unit -> t) -> 'a
  (** [answer question ~otherwise who] is what a scheduler that handles
      {!Concord.Tools.Suspend} continues [Ask { question; otherwise }] with, so
      that its tasks are told apart. [who ()] is the task that asked. A
      scheduler that answers [otherwise] has unknown tasks. *)
end

val weakly : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
(** [weakly resumer] is [resumer]. But while the program looks for leaks (see
    {!Concord.Tools.Suspend.Never_resumed}) it does not keep [resumer] alive,
    and answers [false] when that is gone. It is for what a host keeps in order
    to cancel a task that waits: the continuation must be kept alive by nothing
    but the resumer that [block] was given. *)

val suspend_thread : ('a Concord_suspend.resumer -> 'a option) -> 'a
(** As {!Concord.Tools.Suspend.suspend}, but blocks the calling thread, whatever
    its scheduler, on a condition variable of its own. For a loop that cannot
    suspend the task in which it runs.

    - {b Suspends} the thread; the domain's other threads go on.
    - {b Cancelled} by what a signal handler raises while the thread waits. If
      the thread was resumed before, its next wait raises the exception.
    - {b Raises} [e] if the resumer was called with [Error e], or [block] raised
      [e]. *)

type spinning = Spinning.host = {
  check : unit -> unit;
      (** Raises {!Elsewhere}, as [suspend] would, or what the calling task is
          cancelled with. *)
  turn : (exn -> bool) -> unit;
      (** [turn cancel]: the other tasks of the loop have their turns. If the
          calling task is, or meanwhile comes to be, cancelled with [e], then
          [cancel e] is called at once, and [turn] returns. It performs an
          effect that is made for this call, and no constant. *)
  suspend :
    'a. cancel:(exn -> bool) -> ('a Concord_suspend.resumer -> 'a option) -> 'a;
      (** As a plug-in's. But the task is cancelled with [e] only if [cancel e]:
          otherwise it was resumed, and somebody is about to call the resumer.
      *)
}
(** How a task spins, and how it then sleeps. *)

val spin_first :
  Spin.t -> spinning -> ('a Concord_suspend.resumer -> 'a option) -> 'a
(** [spin_first spin host block] is [host.suspend block], for a plug-in. But if
    [spin], which the tasks of one loop share, says so, then the task itself
    calls [block], and has up to 400 turns, after each of which it checks
    whether it was resumed. So its loop does not sleep when another domain
    resumes it soon: waking it would take a hundred times as long. One task of a
    loop spins at a time, and only while that is worth it, and no task of the
    loop sleeps that began to wait before it. So tasks that a sibling resumes
    together continue in the order in which it resumes them. The task has at
    least one turn, whatever [block] gives. *)

(** {1 Schedulers that handle [Suspend]}

    A task of yours may start another scheduler's loop ([Eio_main.run],
    [Domainslib.Task.run]) that does not handle [Suspend]. The effects of that
    loop's tasks then reach your handler, although you are not their host. So
    run your loop inside {!using}, ask {!is_innermost} before you handle an
    effect, and refuse the effect if the answer is [false]. *)

type t
(** One scheduler's loop. *)

val create : unit -> t
(** A loop that is not running. Make one for each run of your scheduler. O(1).
*)

val using :
  ?outside:((unit Concord_suspend.resumer -> unit option) -> unit) ->
  t ->
  (unit -> 'a) ->
  'a
(** [using t loop] is [loop ()], with [t] registered as this thread's innermost
    scheduler, also for the users of [Domain_local_await]. Leave [using] before
    the loop sleeps (by {!Concord.Tools.Suspend.suspend}, outside of your
    handler), and enter it again after: the task that runs the loop may continue
    on another domain.

    [outside block] handles a wait by code that runs in the loop but in none of
    its tasks: a callback from C. [outside] does what a host does, or calls
    {!refuse} where that would suspend. By default it parks the thread, or
    raises {!Concord.Tools.Suspend.In_handler} if nothing is left that could
    wake it.

    - {b Suspends} the calling task before [loop] begins, for a moment and only
      if it is not known whether the scheduler registered on the domain runs in
      the calling thread; then {b cancelled} as by any suspension. *)

val is_innermost : t -> bool
(** [false] if a foreign scheduler's loop runs between the calling handler and
    the task that performed the effect [e]: then
    [discontinue k (Effect.Unhandled e)]. To be called by the thread that runs
    the loop of [t], inside {!using}. Raises nothing.
    - {b Cost}: one comparison, unless a scheduler was started, or a task used
      [Domain_local_await], on this domain since the last call; but on a domain
      on which the library was used only inside of foreign schedulers, such as a
      pool's, a question to [Domain_local_await] each time. *)

val refuse : exn -> 'a
(** [refuse e] raises [e], for code that has to wait and that your scheduler
    cannot suspend: in [outside], or in a plug-in. If the computation of a lazy
    value is refused, it has not failed, whatever it raises then: the next task
    computes the value again. *)

(** {1 Schedulers that do not handle [Suspend]}

    A plug-in suspends the tasks of such a scheduler by the scheduler's own
    means. *)

exception Elsewhere
(** Raised by a plug-in that was called outside of its scheduler. *)

type plugin = Plugin.t = {
  name : string;  (** Of the scheduler, for messages. *)
  sample : Domain_local_await.t option;
      (** One of the scheduler's triggers, if it registers itself with
          [Domain_local_await]: the code of its [await] tells its triggers from
          those of others. It is not called. *)
  takes_every_effect : bool;
      (** Does the scheduler take even those effects from its tasks that it does
          not know? Then only the plug-in performs effects in its tasks. *)
  suspend : 'a. ('a Concord_suspend.resumer -> 'a option) -> 'a;
      (** Suspends as a handler of {!Concord.Tools.Suspend.extension-Suspend}
          would, H1 to H4. Whatever [block] gives, [suspend] performs an effect
          of the scheduler: it shows where the task ends. The last effect that
          lets other tasks go on before it returns is made for this call, and no
          constant.
          @raise Elsewhere
            without having called [block], if the calling task is not one of the
            scheduler's. *)
  protect : 'a. (unit -> 'a) -> 'a;
      (** As {!Concord.Tasks.protect}.
          @raise Elsewhere without having called the function, as above. *)
  scopes : Concord_suspend.scopes option;
      (** What a handler of {!Concord.Tools.Suspend.extension-Scopes} would
          answer. Used in tasks of the scheduler only. *)
}
(** A scheduler that others wrote, and how to suspend its tasks.

    {b Order.} The innermost scheduler is known if it is registered, by itself
    or by {!using_plugin}; its plug-in is asked first. A plug-in that raises
    {!Elsewhere}, and a thread in which nothing is registered, lead to the other
    plug-ins, in the order in which they were added. That order is not that of
    nesting: a plug-in whose scheduler runs further out answers too. So run a
    loop by {!using_plugin} if it is inside a task of another scheduler and its
    own scheduler does not register itself. A loop outside of all tasks needs
    nothing.

    {b Effects.} [Suspend] is performed first, so that any handler is found,
    also one that is not registered. It is not performed if the innermost
    handler is known to be Eio's, because Eio doesn't handle it. In the tasks of
    a scheduler that takes every effect it is not performed. Such a scheduler is
    found by being registered, or, in a thread in which nothing is registered,
    by asking its plug-in. A scheduler that runs inside one of its tasks is
    found only if it is registered: by itself, by {!using} or by
    {!using_plugin}.

    {b Cost} of a scheduler that takes every effect: a read for each suspension
    if no such plug-in is linked. If one is, each suspension in the program, on
    whatever host, first asks [Domain_local_await] (50 to 100 ns), except where
    a scheduler of {!using} is known to be the innermost. *)

val plug_in : ?who:(unit -> Who.t) -> plugin -> unit
(** Adds a plug-in, for the whole program; plug-ins cannot be removed. Call it
    when your library is initialised. In your library's dune file write
    [(library_flags (-linkall))], because otherwise the linker leaves the
    library out of programs that don't name it. O(n) for [n] plug-ins. [who ()]
    tells which task of the scheduler the calling one is, for
    {!Concord.Tools.Debug}; without it they are not told apart. That of a
    scheduler that takes every effect performs none. *)

val using_plugin : plugin -> (unit -> 'a) -> 'a
(** [using_plugin plugin loop] is [loop ()], with the scheduler registered as
    this thread's innermost one, also for the users of [Domain_local_await].
    [loop] runs the scheduler's loop on the calling thread, and nothing else. It
    does not suspend the task that called it, except by blocking the thread.

    - {b Suspends}, {b Cancelled}: as {!using}, before [loop] begins.

    The domains that [loop] spawns know of it, if the scheduler takes every
    effect. *)

(** {1 Asking the host}

    For libraries that start tasks, or look at their own stack. *)

val scopes : unit -> Concord_suspend.scopes option
(** How the calling task's host starts tasks; [None] if the host does not say
    so. Suspends no task, but a host may let others take their turn.

    - {b Raises} the host's exception, if the task is cancelled. *)

type passing = Probe.passing = { passing : 'b. 'b Effect.t -> unit }
(** What to do before an effect is performed. *)

type host = Reach.host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is none: the system thread would be parked. *)

val probe : passing -> host
(** Performs the effects that a suspension of the calling task would perform,
    but does not suspend the task. Calls [passing] with each effect before it is
    performed. The handlers that see the last effect pass are the task's own,
    and would be suspended with it: so {!Concord.Lazy} knows what a task is
    forcing itself.

    If a scheduler that registered itself with [Domain_local_await] blocks the
    thread without performing an effect, then the answer is {!Parks}. It takes
    some 20 ms, because the thread is given 50 turns in which it could perform
    one. A task that is slow, because the machine is busy, gets the same answer.

    - {b Raises} the host's exception, if the task is cancelled. *)

val may_be_woken : asleep:int -> bool
(** Could anything still resume a task that waits on the calling thread? [false]
    if there is nothing left that could: no host of which the calling task is
    one among others, no timeout that is pending, no other domain, and no other
    thread but [asleep] that are known to wait themselves, and those of
    [Concord_aio] while they have nothing to do. Then to go on waiting is a
    deadlock. Signal handlers do not count.

    Before you say that it is one, look again whether a task is ready: the last
    one who could may have resumed it meanwhile.

    The answer is [true] where it is not known: outside of Linux, in another
    domain than the main one, for a moment after a thread has ended or has done
    what it had to do (so ask again later), and once another library has started
    a thread of its own.
    - {b Cost}: some microseconds; up to some milliseconds if all hangs on a
      thread of [Concord_aio] that is about to have nothing to do. Suspends no
      task, but a host may let others take their turn. *)
