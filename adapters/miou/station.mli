(** How other threads reach the loop of one of Miou's domains.

    Miou lets other domains resume a task. But a thread of the task's own
    domain, or a signal handler, may have interrupted the loop in the middle of
    its queue, and nothing would wake the loop if it slept. So what resumes a
    task goes through an inbox; a task of Miou's in each domain, the porter,
    serves it. While the porter sleeps, another one reads from a pipe, so that a
    byte wakes the loop. *)

type t
(** Of one domain, during one {!run}. *)

val run : ?g:Random.State.t -> ?domains:int -> (unit -> 'a) -> 'a
(** [Miou_unix.run], with a station in each domain.

    - {b Raises} [Invalid_argument] inside of another one. *)

val here : unit -> t option
(** That of the calling thread, if the thread runs a loop of {!run}: for its
    tasks, and whatever runs on top of them. *)

val resumer :
  t ->
  'a Concord.Tools.Host_kit.Decision.t ->
  Miou.Trigger.t ->
  'a Concord.Tools.Suspend.resumer
(** [resumer t decision trigger] decides; [false] if it had been decided. The
    trigger is then signalled by the porter, soon, in the order of the calls.
    From any thread of any domain, at any moment. If it raises what a signal
    handler raises, then all of it has happened.
    - {b Cost}: O(1). A system call only if the porter sleeps. *)

val dying : t -> Dying.t
(** The task of this domain that was cancelled last. *)

val keep : t -> exn -> Printexc.raw_backtrace -> unit
(** A signal handler has raised this exception in a task that was resumed
    before. An exception that was kept before is dropped. *)

val raise_kept : t -> unit
(** Raises what was kept, once. *)
