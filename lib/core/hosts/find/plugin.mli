(** The plug-ins of the program. {!Concord.Tools.Host_kit} describes them. *)

open Concord_suspend

exception Elsewhere

type suspending = { suspend : 'a. ('a resumer -> 'a option) -> 'a }

type t = {
  name : string;
  sample : Domain_local_await.t option;
  takes_every_effect : bool;
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
  scopes : scopes option;
}

val add :
  ?who:(unit -> Who.t) -> ?on_this_domain:(unit -> suspending) -> t -> unit
(** {!Concord.Tools.Host_kit.plug_in}. [on_this_domain ()] is the plug-in's
    [suspend] for tasks that run on the calling domain. It is called when the
    plug-in's scheduler was found to be the innermost one, and the result is
    used as long as that is known. So [concord-eio] reads its [Domain.DLS] once,
    and not in each wait. *)

val on_this_domain : t -> suspending
(** Suspends the tasks of the calling domain as the plug-in does. *)

val who : t -> Who.t option
(** The calling task, which is one of that plug-in's scheduler. [None] if the
    plug-in does not tell its tasks apart.

    - {b Raises} {!Elsewhere} if the caller is in none of its tasks. *)

val all : unit -> t array
(** All plug-ins, in the order in which they were added. A plug-in keeps its
    index. *)

(** {2 Threads where the effect of a suspension has no handler} *)

val passes_suspend : Concord_stub.Innermost_handler.t -> unit
(** [passes_suspend handler] announces that [handler] is the handler of the
    scheduler's tasks, and handles none of the library's effects. It is for
    [concord-eio].

    From then on, the library doesn't perform [Suspend] if that is the innermost
    handler. The effect would only come back unhandled, which costs as much as
    the rest of a short wait. Instead, the library asks the registered
    schedulers and then the plug-ins at once. If that handler is the only one on
    the stack, the library doesn't ask for the computations around a wait
    either.

    The program remembers one handler. A later call with another one does
    nothing. No other handler may have the two functions of [handler].

    [concord-eio] finds the handler by comparing two stacks, in a task in which
    [Suspend] has come back. One is [Innermost_handler.around] before it
    performs Eio's effect. The other is [Innermost_handler.here] in the function
    that Eio calls for this effect. *)

val knows_handler : unit -> bool
(** [true] if there was one. *)

val threads_park : unit -> unit
(** Notes that the program has a thread that waits without any handler, and may
    wait again. *)

val comes_back : unit -> bool
(** [true] if the innermost handler of the caller is that one, or there is none
    at all. It is [false] as long as neither was noted. {b Cost}: a read then,
    and otherwise some more. *)

val nobody_answers : unit -> bool
(** {!comes_back}, and there is no other handler further out, so that all
    effects of the library have no handler. *)

(** {2 Schedulers that take every effect} *)

val some_takes_every_effect : unit -> bool
(** {!Greedy.exist}. *)

val takers : unit -> t list
(** The plug-ins that take every effect. *)

val unregistered : unit -> t list
(** The other plug-ins whose schedulers do not register themselves. *)

val recognise : Domain_local_await.t -> int option
(** The index of the plug-in to whose scheduler the trigger belongs. It must be
    a trigger that the calling thread was given. *)

val recognise_handlers : Domain_local_await.t -> unit
(** Called by {!Trigger} with such a trigger, while the library is initialised.
*)

val is_handler : Domain_local_await.t -> bool
(** [true] if the trigger is that of a scheduler that handles [Suspend]
    ({!Trigger.prepare}). *)

(** {2 Exceptions that end a task} *)

val add_end_of_task : (unit -> exn -> bool) -> unit
(** [add_end_of_task watch] is for a scheduler that cancels a task by an
    exception, and drops it at the next effect that it performs, even if the
    task has caught the exception. [watch () e] is [true] if the task may have
    got [e] between the two calls, which one task makes. They perform no effect.
*)

val some_end_tasks : unit -> bool
(** [true] if there is such a scheduler. {b Cost}: one read. *)

val watch_end : unit -> exn -> bool
(** [watch_end () e] asks all of these schedulers. *)

(** {2 Loops of schedulers that do not register themselves} *)

val of_loop : Domain_local_await.t -> Domain_local_await.t
(** A trigger that does the same, and by which {!recognise} finds such a loop.
*)

val running : t -> (unit -> 'a) -> 'a
(** [running plugin loop] is [loop ()], while the calling thread is registered
    with triggers made by {!of_loop}. *)
