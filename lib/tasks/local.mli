(** Values that belong to a task, and follow it from host to host.

    {b Stability}: stable.

    A request's number, its user, a trace or a deadline should be known wherever
    code works for the request, without an argument in each function. A [Local]
    is the key of such a value. The tasks a task starts have its values, on
    whatever host they run:

    {[
      # let request : int Local.t = Local.create ()
      val request : int Local.t = <abstr>
      # let log text =
          match Local.get request with
          | Some n -> Printf.printf "%d: %s\n%!" n text
          | None -> print_endline text
      val log : string -> unit = <fun>
      # Workers.with_workers ~domains:1 @@ fun workers ->
        log "start";
        Local.with_binding request 7 (fun () ->
            Tasks.iter log [ "a task of the caller's host" ];
            Workers.run workers (fun () -> log "a job in another domain");
            Promise.await (Promise.in_thread (fun () -> log "a thread")));
        log "end"
      start
      7: a task of the caller's host
      7: a job in another domain
      7: a thread
      end
      - : unit = ()
    ]}

    {b These inherit} the values their caller has at this moment, and keep them
    for as long as they run:

    - tasks of {!Scope} and {!Tasks}, on every host, and of [Concord_fifo];
    - jobs of {!Workers} and [Concord_domainslib];
    - {!Promise.in_thread}, {!Promise.in_domain}, and the functions given to
      {!Promise.on_resolve} and {!Promise.map};
    - functions sent to a loop by the adapters' [post] and [call];
    - whatever the host itself starts, for example Eio fibers, Lwt promises'
      callbacks and Async jobs.

    {b These start without values}: [Thread.create], [Domain.spawn],
    [Domainslib.Task.async], fibers spawned by Picos outside of a {!Scope}, and
    Miou tasks. Give them a {!type-snapshot}.

    If a host has values of its own for a task, as Eio's fibers, Lwt's promises
    and Async's jobs do, it keeps all values under one such key, if its adapter
    is linked. An Lwt callback therefore has the values of the code that
    attached it, even if another task calls it. Other hosts keep them in a
    handler on the task's stack.

    Create a key when your module is initialised, because a task only inherits
    if a key exists. In code that begins before [Lwt_main.run], values are lost
    at the first callback, so use [Concord_lwt.run].

    {b Cost}. A program without keys pays one read where a task, a job or a
    callback starts. A wait costs nothing more, except in a task whose host
    keeps the values in a handler, and only while a value is bound there. *)

type 'a t
(** A key, to which values of type ['a] are bound. *)

val create : unit -> 'a t
(** [create ()] is a new key. You can call it anywhere. *)

val get : 'a t -> 'a option
(** [get key] is the value the calling task has bound to [key], or inherited, or
    [None].

    You can call it anywhere, also in a callback, which has the values of the
    code that registered it. In a signal handler or a finaliser, it is the value
    of the interrupted task, or [None].

    - {b Suspends} never, and raises no exception.
    - {b Cost}: on {!Concord_fifo} and in Eio fibers some 50 to 100 ns, on other
      hosts up to some 350 ns, and O(n) for [n] bound keys. *)

val with_binding : 'a t -> 'a -> (unit -> 'b) -> 'b
(** [with_binding key v f] is [f ()], in which [key] is bound to [v].

    Tasks started by [f] keep the binding, even after [with_binding] has
    returned.

    - {b Suspends} only where [f] does.
    - {b Cost}: as {!get}, and a handler on hosts without values of their own.
    - {b Raises} [e] if [f] raises [e]. *)

val without_binding : 'a t -> (unit -> 'b) -> 'b
(** [without_binding key f] is [f ()], in which [key] has no value. Otherwise it
    is like {!with_binding}. *)

(** {1 All values of a task} *)

type snapshot
(** All values of a task at one moment. It is immutable. *)

val snapshot : unit -> snapshot
(** [snapshot ()] has the calling task's values. It costs as much as {!get}. *)

val with_snapshot : snapshot -> (unit -> 'a) -> 'a
(** [with_snapshot snapshot f] is [f ()], in which the task has exactly the
    values of [snapshot]. Otherwise it is like {!with_binding}.

    Use it where you start a task that doesn't inherit:

    {[
      # let in_thread f =
          let values = Local.snapshot () in
          Thread.create (fun () -> Local.with_snapshot values f) ()
      val in_thread : (unit -> 'a) -> Thread.t = <fun>
    ]} *)
