(** [CONCORD_DEBUG=leaks]: finds tasks that nobody can resume any more.

    While it is on, each wait has a {e guard} instead of its resumer. When the
    guard is collected, no code has the resumer any more: then the task is
    resumed with {!Never_resumed}, and the wait is reported. For this the host
    must not keep alive, by the task, what the task waits in: see {!weakly}. *)

exception Never_resumed

val is_on : bool
(** Is [leaks] one of the words in [CONCORD_DEBUG], when the program starts? *)

val max_frames : int
(** So many are reported at most. *)

val guard :
  (unit -> Printexc.raw_backtrace) ->
  'a Concord_suspend.resumer ->
  'a Concord_suspend.resumer
(** [guard waits_at resumer] is [resumer], guarded. [waits_at ()] are the frames
    of the task, asked for now. A second [true] of [resumer] is reported too: it
    is against H3. *)

val weakly : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
(** {!Concord.Tools.Host_kit.weakly}. *)

val guard_operation : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
(** As {!guard}, for an operation that has no stack while it waits: the frames
    are those that called it. Off, it is the resumer itself. *)

val report_last_thread : 'a Concord_suspend.resumer -> unit
(** Resumes the calling thread, which has no other one to wait for, and reports
    it. *)

val report_last : (int -> Printexc.raw_backtrace) -> unit
(** Reports a task of the last thread that was told so, with its innermost
    frames; nothing if the report is off. *)

val held_by_resumer :
  (('a, exn) result -> unit) -> (('a, exn) result -> unit) * (unit -> unit)
(** [held_by_resumer go_on] is [(go_on', hold)]: [go_on'] does not keep [go_on]
    alive until [hold ()] or [go_on' (Error Hold)] was called. [hold] does, so
    that the resumer calls it. Before that, [go_on'] does nothing. *)

exception Hold
(** Only for {!held_by_resumer}: what is alive is to be kept alive. *)

val of_loop : 'block -> (unit -> 'a) -> 'a
(** [of_loop block f] is [f ()], in which [block] is that of a loop which
    sleeps. It is not guarded: its tasks are, and one that is told wakes the
    loop. The collector may find both at once, and calls finalisers in any
    order. *)

val is_of_loop : 'block -> bool
(** Is this block in {!of_loop}, physically? *)

val before_sleep : unit -> unit
(** To be called before the thread sleeps: nothing might start the collector any
    more. Nothing, if it is off. *)
