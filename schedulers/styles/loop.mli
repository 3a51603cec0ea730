(** Starts a group, and runs its loop until the last thread has ended. *)

val start :
  ?outside:((unit Concord.Tools.Suspend.resumer -> unit option) -> unit) ->
  'd Group.style ->
  ('d Group.t -> unit) ->
  unit
(** [start style run] calls [run t] until there is no thread left. [run]
    performs turns until no thread is ready. Then [start] suspends its caller
    until a task of another host makes a thread ready.

    - {b Raises} [e] if a turn raised [e], after the other threads have ended.
    - {b Raises} [Invalid_argument] if a thread of the style calls it.
    - {b Raises} {!Group.Deadlock} if nothing could make a thread ready. *)

val stop : 'd Group.style -> unit
(** Ends the threads of the group.

    - {b Raises} {!Group.Ended} if a thread calls it. *)

(** {2 For loops of other kinds} *)

val finally : (unit -> 'a) -> finally:(unit -> unit) -> 'a
(** {!Fun.protect}, for a [finally] that a signal handler may interrupt. Its
    exception is raised as it is. *)

val refuse_to_start : string -> 'a
(** - {b Raises} [Invalid_argument] with the name of the style. *)

val is_in_host : unit -> bool
(** [true] if the calling task is one of several of a host.

    - {b Raises} the host's exception, if the task is cancelled. *)

val check_again : in_host:bool -> (unit -> unit) -> unit -> unit
(** [let forget = check_again look] is for a loop that is about to sleep.
    [look ()] is called after a second, if something that could resume a thread
    now may have ended by then. If [forget ()] is called before, [look] isn't.
*)
