(** The plug-ins of the program. {!Concord.Tools.Host_kit} says what they are.
*)

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
(** {!Concord.Private.Plugin.add}, and without [on_this_domain]
    {!Concord.Tools.Host_kit.plug_in}. *)

val on_this_domain : t -> suspending
(** Suspends the tasks of the calling domain as the plug-in does. *)

val who : t -> Who.t option
(** The calling task, which is one of that plug-in's scheduler; [None] if the
    plug-in does not tell its tasks apart.
    @raise Elsewhere if it is in none of them. *)

val add_who_of_trigger : (Domain_local_await.t -> Who.t option) -> unit
(** For a scheduler that is reached by its trigger alone, in whose task the
    function is called. *)

val who_of_trigger : Domain_local_await.t -> Who.t

val add_waker_of_trigger : (Domain_local_await.t -> bool) -> unit
(** [add_waker_of_trigger waker], for a scheduler that is reached by its trigger
    alone. If the trigger is one of its own, [waker trigger] may have it release
    the trigger, once the tasks that are ready have had their turn; and says
    whether it does. *)

val wake_later : Domain_local_await.t -> bool
(** Does any scheduler do so? *)

val all : unit -> t array
(** All plug-ins, in the order in which they were added. A plug-in keeps its
    index. *)

val takes_slow_path : unit -> bool
(** {!some_takes_every_effect}, or the program looks for leaks, or keeps waits.
*)

val keep_waits : unit -> unit
(** From now on. *)

val trace : unit -> unit
(** Has {!Tracing} told of each suspension, from now on. *)

val stop_tracing : unit -> unit
(** Suspensions take the short way again, unless something else needs them not
    to. *)

(** {2 Where the effect of a suspension comes back unhandled} *)

val passes_suspend : Concord_stub.Innermost_handler.t -> unit
(** {!Concord.Private.Plugin.passes_suspend}. *)

val knows_handler : unit -> bool
(** Was there one? *)

val threads_park : unit -> unit
(** The program has a thread that waits without any handler, and may wait again.
*)

val comes_back : unit -> bool
(** Is the innermost handler of the caller that one, or is there none at all?
    [false] as long as neither was told of. {b Cost}: a read then, else some
    more. *)

val nobody_answers : unit -> bool
(** {!comes_back}, and there is no other handler further out: so all effects of
    the library come back. *)

(** {2 Schedulers that take every effect} *)

val some_takes_every_effect : unit -> bool
(** {!Greedy.exist}. *)

val takers : unit -> t list
(** The plug-ins that take every effect. *)

val unregistered : unit -> t list
(** Those of the other plug-ins whose schedulers do not register themselves. *)

val recognise : Domain_local_await.t -> int option
(** The index of the plug-in to whose scheduler the trigger belongs. The calling
    thread was given the trigger. *)

(** {2 Exceptions that end a task} *)

val add_end_of_task : (unit -> exn -> bool) -> unit
(** [add_end_of_task watch], for a scheduler that cancels a task by an
    exception, and drops it at the next effect that it performs, whatever it has
    caught. [watch () e], both called by one task, tells whether the task may
    have got [e] so in between. They perform no effect. *)

val some_end_tasks : unit -> bool
(** Is there such a scheduler? {b Cost}: one read. *)

val watch_end : unit -> exn -> bool
(** [watch_end () e]: of any of these schedulers. *)

(** {2 Loops of schedulers that do not register themselves} *)

val of_loop : Domain_local_await.t -> Domain_local_await.t
(** A trigger that does the same, and by which {!recognise} finds such a loop.
*)

val running : t -> (unit -> 'a) -> 'a
(** [running plugin loop] is [loop ()], while the calling thread is registered
    with triggers made by {!of_loop}. *)
