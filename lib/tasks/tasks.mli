(** Several things at once, on whatever host calls.

    {b Stability}: stable.

    {!Scope} says which tasks these are, and how they end.

    {2 What can be cancelled}

    A function returns when its tasks have ended, and never before. So how soon
    depends on what can be cancelled:

    - Tasks of {!Concord_fifo}, and fibers of Eio if [concord-eio] is linked,
      are cancelled where they wait, whatever for.
    - On all other hosts (a thread, a domain, a pool of Domainslib,
      [Lwt_direct], [direct] of Lwt and Async, Eio without [concord-eio]) the
      tasks are those of a {!Concord_fifo} inside the calling task: operations
      of this library are cancelled there too. Those of the host itself
      ([Unix.sleep], [Task.await], [Lwt_direct.await]) are not, and hold up the
      others, and timeouts too, until they return.
    - A host that starts tasks itself and cannot cancel them lets them run to
      their end.
    - A task that computes, or is in {!Concord.Tasks.protect}, goes on until it
      waits outside of it. *)

val both : (unit -> 'a) -> (unit -> 'b) -> 'a * 'b
(** [both f g] runs [f ()] and [g ()] at once, and returns the values of both.
    [f] begins first, in a task of its own; the calling task runs [g].

    - {b Suspends} until both have ended.
    - {b Cancelled}: so are both; then the host's exception is raised.
    - {b Cost}: that of {!Scope.run}, and of one task.

    {[
      # let box = Mvar.create_empty () in
        Tasks.both (fun () -> Mvar.take box) (fun () -> Mvar.put box "hello")
      - : string * unit = ("hello", ())
    ]}
    - {b Raises} [e] if one of them raised [e], after the other was cancelled
      and has ended; if both raised, then what the first one did. *)

val all : (unit -> 'a) list -> 'a list
(** [all fs] runs the functions of the list at once, and returns their values in
    the order of the list. They begin in that order; the calling task runs the
    last one, the others have tasks of their own.

    - {b Suspends} until all have ended.
    - {b Cancelled}: so are all; then the host's exception is raised.
    - {b Cost}: that of {!Scope.run}, and of a task for each function.

    {[
      # let double n () = 2 * n in
        Tasks.all (List.map double [ 1; 2; 3 ])
      - : int list = [2; 4; 6]
    ]}
    - {b Raises} [e] if one of them raised [e], after the others were cancelled
      and have ended; if several raised, then what the first one did. *)

val first : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) -> (unit -> 'a) -> 'a
(** [first f g] runs [f ()] and [g ()] at once, and returns the value of the one
    that returns first. The other one is cancelled, and unwound before [first]
    returns. [f] begins first, in a task of its own; [g] does not begin if [f]
    has returned by then.

    The other one may have been resumed before, and return as well: then the
    result is [combine v w], where [v] came first; by default [v], and [w] is
    lost. To wait for the first of several {e operations}, of which exactly one
    is to happen, use {!Event.select}, which loses nothing and needs no tasks.

    - {b Suspends} until both have ended.
    - {b Cancelled}: so are both; then the host's exception is raised. But if a
      value is there, it is returned; the next suspension raises.
    - {b Cost}: as {!both}.

    {[
      # let box = Mvar.create_empty () in
        Tasks.first (fun () -> Mvar.take box) (fun () -> "nobody was faster")
      - : string = "nobody was faster"
    ]}
    - {b Raises} [e] if one of them raised [e]: the first one to raise, also if
      the other one has returned before. *)

val any : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) list -> 'a
(** [any fs] is {!first} of any number of functions. They begin in the order of
    the list; once one has returned, no other begins.

    {[
      # let after seconds v () = Tasks.sleep seconds; v in
        Tasks.any [ after 60. "slow"; after 0.001 "fast"; after 60. "slow" ]
      - : string = "fast"
    ]}
    - {b Raises} [Invalid_argument] if [fs] is empty. *)

val with_timeout : float -> (unit -> 'a) -> 'a option
(** [with_timeout seconds f] is [Some (f ())], unless that takes longer than
    [seconds]: then [f] is cancelled, and the result is [None] when it has been
    unwound. [f] runs in the calling task.

    If [f] returns, its value is the result, however late that is: nothing is
    lost if [f] ends at the same time, or takes no notice of its cancellation.
    [seconds] are counted from the call; if that is not positive then [f] is
    given up where it waits first; if it is [infinity], never. Tasks that [f]
    has left behind in the scope, by {!Concord_fifo.fork}, are waited for
    without a limit if [f] has returned in time.

    For one operation use {!Event.sync_before}, which needs no task.

    - {b Suspends} until [f] has ended.
    - {b Cancelled}: so is [f]; then the host's exception is raised. But if [f]
      has returned, then so does [with_timeout]; the next suspension raises.
    - {b Cost}: that of {!Scope.run}, of one task, and of a timeout.

    {[
      # let box : int Mvar.t = Mvar.create_empty () in
        Tasks.with_timeout 0.001 (fun () ->
          Fun.protect ~finally:(fun () -> print_endline "unwound") (fun () -> Mvar.take box))
      unwound
      - : int option = None
      # Tasks.with_timeout 60. (fun () -> 6 * 7)
      - : int option = Some 42
    ]}
    - {b Raises} [e] if [f] raised [e], also while it was unwound.
    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

val sleep : float -> unit
(** [sleep seconds] is [Event.sync (Event.timeout seconds)]: it suspends the
    calling task for so long, and not its thread.

    - {b Raises} [Invalid_argument] if [seconds] is not a number. *)

val yield : unit -> unit
(** Lets other ready tasks of the caller's host have their turn; in a thread
    without scheduler, other threads of its domain.

    - {b Cancelled}: raises the host's exception.
    - {b Order}: on {!Concord_fifo} and Eio the caller goes on after all tasks
      that are ready.
    - {b Cost}: that of a suspension; in a Domainslib pool that
      [concord-domainslib] knows (it was attached, or got a job), that of a job.
      In other pools, and in Eio without [concord-eio], the thread of the
      timeouts wakes the task: some 0.1 ms, but up to 50 ms on the domain that
      is in [Domainslib.Task.run], which keeps that thread waiting. If that
      thread is faster than the task, the others have no turn this time: yield
      until something has happened, but don't count the turns.

    {[
      # Concord_fifo.run (fun () ->
          Tasks.both
            (fun () -> print_endline "a"; Tasks.yield (); print_endline "c")
            (fun () -> print_endline "b"))
      a
      b
      c
      - : unit * unit = ((), ())
    ]} *)

(** {2 Cancellation} *)

val protect : (unit -> 'a) -> 'a
(** [protect f] is [f ()], in which the innermost host that has cancellation
    does not deliver it: a cancellation that arrives meanwhile raises at the
    first suspension after [protect] returned. For a thread without scheduler,
    what a signal handler raises while the thread waits is a cancellation. A
    Domainslib task just calls [f], and so does an Eio fiber if [concord-eio] is
    not linked.

    - {b Suspends} only where [f] does.
    - {b Cost}: one effect. On a host that does not know
      {!Concord.Tools.Suspend.extension-Protect} it comes back as an exception,
      and then the host is looked for as in {!Concord.Tools.Suspend.suspend}.
    - {b Raises} [e] if [f] raises [e]. *)

val is_cancelled : unit -> bool
(** Would a suspension of the calling task raise its host's cancellation?
    [false] for hosts without cancellation, and in {!protect}.

    - {b Suspends} no task, but a host may let others take their turn.
    - {b Cost}: that of a suspension which goes on at once. *)

(** {2 Lists} *)

val iter : ?max_tasks:int -> ('a -> unit) -> 'a list -> unit
(** [iter ~max_tasks f xs] calls [f x] for each [x] of the list, for up to
    [max_tasks] of them at once (by default for all): in so many tasks, the
    calling task among them. They begin in the order of the list.

    Once one has failed, or the whole was cancelled, no other one begins: also
    if [f] computes, or takes no notice of its cancellation. (A {!Concord_fifo}
    inside a task of another host is cancelled when it next waits, or gives that
    host a turn.) If all have begun by then, and each returns, then [iter] may
    return.

    - {b Suspends} until all have ended.
    - {b Cancelled}: so are all; then the host's exception is raised.
    - {b Cost}: that of {!Scope.run} and of the tasks. While tasks are started,
      other tasks of the host have a turn after each millisecond. If [max_tasks]
      is less than the length of the list, each [x] also costs an effect, and on
      Eio it waits for a turn.

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
    - {b Raises} [e] as {!all}.
    - {b Raises} [Invalid_argument] if [max_tasks < 1]. *)

val map : ?max_tasks:int -> ('a -> 'b) -> 'a list -> 'b list
(** As {!iter}, and gives the values in the order of the list.

    {[
      # Tasks.map ~max_tasks:2 String.uppercase_ascii [ "a"; "b"; "c" ]
      - : string list = ["A"; "B"; "C"]
    ]} *)
