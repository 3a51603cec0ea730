(** Starting a group, and what its loop does until the last thread has ended. *)

val start :
  ?outside:((unit Concord.Tools.Suspend.resumer -> unit option) -> unit) ->
  'd Group.style ->
  ('d Group.t -> unit) ->
  unit
(** [start style run] calls [run t] until there is no thread left. [run]
    performs turns until nobody is ready. When nobody is, [start] suspends its
    caller until a task of another host makes somebody ready.

    - {b Raises} [e] if a turn raised [e], after the other threads have ended.
    - {b Raises} [Invalid_argument] if a thread of the style calls it.

    @raise Group.Deadlock if nothing could make somebody ready. *)

val stop : 'd Group.style -> unit
(** Ends the threads of the group.
    @raise Group.Ended if a thread calls it. *)

(** {2 For loops of other kinds} *)

val finally : (unit -> 'a) -> finally:(unit -> unit) -> 'a
(** {!Fun.protect}, for a [finally] that a signal handler may interrupt: its
    exception goes on as it is. *)

val refuse_to_start : string -> 'a
(** - {b Raises} [Invalid_argument] with the name of the style. *)

val is_in_host : unit -> bool
(** Is the calling task one of several of a host?

    - {b Raises} [e] the host's exception, if the task is cancelled. *)

val check_again : in_host:bool -> (unit -> unit) -> unit -> unit
(** [let forget = check_again look]: for a loop that is about to sleep.
    [look ()] is called after a second, if something that could resume a thread
    now may have ended by then; unless [forget ()] came before. *)
