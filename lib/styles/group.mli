(** What all the light styles share: threads that are started together, the
    turns that they take, and how they wait.

    Each system thread has a group of its own for each style. It comes to be
    with the first {!spawn}, and is gone when {!start} returns. *)

exception Deadlock of int
exception Ended

type 'd style
(** A style; its groups each have a ['d] of their own. *)

type 'd t
(** A group. *)

val style : ?clear:('d -> unit) -> name:string -> (unit -> 'd) -> 'd style
(** [clear d] is called when the group with [d] is stopped. *)

val name : 'd style -> string

(** {2 For the main program} *)

val spawn : 'd style -> (unit -> unit) -> unit
(** The function is called in a turn of its own, once the group is started. A
    thread of the group may call it too. *)

val start :
  ?outside:((unit Concord.Suspend.resumer -> unit option) -> unit) ->
  'd style ->
  ('d t -> unit) ->
  unit
(** [start style run] calls [run t] until there is no thread left. [run]
    performs turns until nobody is ready. When nobody is, [start] suspends its
    caller until a task of another host makes somebody ready.

    - {b Raises} [e] if a turn raised [e], after the other threads have ended.
    - {b Raises} [Invalid_argument] if a thread of the style calls it.

    @raise Deadlock if nothing could make somebody ready. *)

val stop : 'd style -> unit
(** Ends the threads of the group.
    @raise Ended if a thread calls it. *)

(** {2 For threads} *)

val running : 'd style -> 'd t
(** The calling thread's group.

    - {b Raises} [Invalid_argument] if it has none, or that was not started. *)

val host : 'd t -> Concord.Host_kit.t

val host_of_caller : 'd style -> Concord.Host_kit.t option
(** That of the calling thread's group, if there is one that was started. *)

val data : 'd t -> 'd

val turn : 'd t -> bool
(** Performs the next turn; [false] if nobody is ready. *)

val enqueue : 'd t -> (unit -> unit) -> unit
(** The function is called in a turn; or never, if the group is stopped before.
*)

val enqueue_stack : 'd t -> (unit -> unit) -> unit
(** As {!enqueue}, but it is called in any case: it continues a stack, which is
    to be unwound. The thread then calls {!raise_if_stopped}. *)

val raise_if_stopped : 'd t -> unit
(** @raise Ended if the group was stopped. *)

val wait :
  'd t ->
  protected:bool ->
  ('a Concord.Suspend.resumer -> 'a option) ->
  (('a, exn) result -> unit) ->
  unit
(** [wait t ~protected block go_on] does what a host does with [Suspend block]:
    [go_on] is called with the outcome, at once or in a turn. If the group is
    stopped first, that is [Error Ended], unless the wait is [protected]. *)

(** {2 For all styles} *)

val finally : (unit -> 'a) -> finally:(unit -> unit) -> 'a
(** {!Fun.protect}, for a [finally] that a signal handler may interrupt: its
    exception goes on as it is. *)

val refuse_to_start : string -> 'a
(** - {b Raises} [Invalid_argument] with the name of the style. *)

val is_in_host : unit -> bool
(** Is the calling task one of several of a host?

    - {b Raises} [e] the host's exception, if the task is cancelled. *)

val look_again : in_host:bool -> (unit -> unit) -> unit -> unit
(** [let forget = look_again look]: for a loop that is about to sleep. [look ()]
    is called after a second, if something that could resume a thread now may
    have ended by then; unless [forget ()] came before. *)
