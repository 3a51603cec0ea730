(** How other threads reach the loop of one of Miou's domains.

    Miou lets other domains resume a task. But a thread of the task's own
    domain, or a callback from C, may run while the loop is in the middle of its
    queue. Also, nothing would wake the loop if it slept. So each resumption
    goes through an inbox. In each domain a task of Miou's, the porter, serves
    it. While the porter sleeps, another task reads from a pipe, so that a byte
    wakes the loop. *)

type t
(** The station of one domain, during one {!run}. *)

val run : ?g:Random.State.t -> ?domains:int -> (unit -> 'a) -> 'a
(** [Miou_unix.run], with a station in each domain.

    - {b Raises} [Invalid_argument] inside of another one. *)

val here : unit -> t option
(** The station of the calling thread, if the thread runs a loop of {!run}. It
    is for the loop's tasks, and for code that runs on top of them. *)

val resumer :
  t ->
  'a Concord.Tools.Host_kit.Decision.t ->
  Miou.Trigger.t ->
  'a Concord.Tools.Suspend.resumer
(** [resumer t decision trigger] decides. It is [false] if the wait had been
    decided. The porter then signals the trigger, soon, in the order of the
    calls. Any thread of any domain may call it, at any moment. Unbroken: if it
    raises, all of it has happened.

    - {b Cost}: O(1). It needs a system call only if the porter sleeps. *)

val dying : t -> Dying.t
(** The task of this domain that was cancelled last. *)

val keep : t -> exn -> Printexc.raw_backtrace -> unit
(** This exception came in a task that was resumed before. If an exception was
    kept before, it is dropped. *)

val raise_kept : t -> unit
(** Raises the exception that was kept, once. *)
