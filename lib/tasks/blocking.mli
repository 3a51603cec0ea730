(** Blocking calls, in threads of their own.

    {b Stability}: stable.

    A call into a database's client library, [Unix.system] or a lookup of a name
    blocks the calling thread, and with it all tasks of its loop. [run] makes
    such a call in another thread, which suspends only the calling task:

    {[
      # let lookup key = Unix.sleepf 0.001; key * key
      val lookup : int -> int = <fun>
      # Concord_fifo.run (fun () ->
          Tasks.map (fun key -> Blocking.run (fun () -> lookup key)) [ 1; 2; 3 ])
      - : int list = [1; 4; 9]
    ]}

    The threads belong to a pool. A call takes the thread that became idle last,
    or starts one if none is idle, up to the pool's limit. At the limit, calls
    wait for their turn. Up to 16 idle threads wait for further calls, and no
    thread delays the end of the program or of its domain.

    OCaml runs one thread of a domain at a time. A computation isn't faster
    here, and slows the caller's loop down. Use {!Workers} for computations. *)

type t
(** A pool of threads. *)

val create : ?name:string -> ?threads:int -> unit -> t
(** [create ~name ~threads ()] is a pool of up to [threads] threads, by default
    64. It starts none.

    A pool bounds how many calls block at the same time, for example because a
    server accepts only so many connections. Calls that may block for very long
    should have a pool of their own, to keep others from waiting for them. A
    pool is never released, so create it when your program starts. Reports of
    {!Concord.Tools.Debug} show [name].

    - {b Raises} [Invalid_argument] if [threads] is less than 1. *)

val run : ?pool:t -> ?signals:bool -> ?drop:('a -> unit) -> (unit -> 'a) -> 'a
(** [run f] is [f ()], called in a pooled thread. By default there is one pool
    for the whole program.

    [f] has the caller's values of {!Local}. It may wait for tasks of other
    hosts, but then keeps its thread.

    {b Signals} are blocked while [f] runs, so no handler interrupts it. A
    program started by [f] inherits this, and would ignore [SIGTERM]. If [f]
    starts a program ([Unix.system], [Unix.create_process]), write
    [~signals:true]. The thread then blocks the same signals as the task that
    started it. This costs some microseconds more, and if a handler raises in
    [f], it ends [f].

    - {b Suspends} the calling task until [f] has ended.
    - {b Cancelled} while suspended, [run] raises the host's exception at once.
      If [f] hasn't begun, it is never called. A thread can't be stopped, so if
      [f] has begun, it continues, and its thread still counts for the limit of
      the pool. Its value is given to [drop], for example to close a descriptor,
      and its exception is dropped. [drop] runs in the thread, or in the
      cancelled task, and should neither wait nor raise. If you have to wait for
      the end, write [Tasks.protect (fun () -> Blocking.run f)].
    - {b Order}. Calls begin in the order in which they came.
    - {b Cost}: about 10 us, most of it for waking two threads. Starting a
      thread takes 30 to 100 us.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} [Sys_error] with the reason if the pool has no thread and the
      system can't start one. Calls already waiting for that thread raise it
      too. If the pool has a thread, the call waits for it instead. *)

val submit : ?pool:t -> ?signals:bool -> (unit -> 'a) -> 'a Promise.t
(** [submit f] starts the same call, and is a promise of its result.

    - {b Suspends} never.
    - Otherwise it is like {!run}. *)

val threads : t -> int
(** [threads t] is the number of the pool's threads, idle or not. *)

val waiting : t -> int
(** [waiting t] is the number of calls waiting for a thread. *)

(**/**)

(** For [concord-aio]: the promise, and a function to withdraw the call. It
    returns [true] if the call will never begin. *)

val start :
  t ->
  signals:bool ->
  drop:('a -> unit) ->
  (unit -> 'a) ->
  'a Promise.t * (unit -> bool)

val await_or_drop : 'a Promise.t * (unit -> bool) -> drop:('a -> unit) -> 'a
