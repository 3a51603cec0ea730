(** A thread with a resource while a function runs, for example a loop in a
    domain of its own, or a pool of domains.

    Only the thread that created such a resource can end it, but a task may
    continue on another domain. A separate thread therefore creates and ends the
    resource, and the caller's task waits for the thread. *)

type 'r t = {
  ready : 'r Promise.t;
      (** The thread fills it when it has created the resource. *)
  leave : unit Promise.t;
      (** It is filled when the caller's function has ended. *)
  over : unit Promise.t;
      (** It is resolved when the thread's function has returned or raised. The
          thread may fill it before, if the caller doesn't have to wait any
          longer. *)
}
(** The promises through which the thread and the caller synchronise. *)

val wait_to_leave : 'r t -> unit
(** [wait_to_leave t] waits for [t.leave], in the thread. Reports don't list
    this wait, because the thread isn't a task of the program. *)

val within : (Signals.mask -> 'r t -> unit) -> ('r -> 'a) -> 'a
(** [within body f] calls [f r]. It runs [body mask t] in a new thread of the
    calling domain, which fills [t.ready] with [r]. [body] should return soon
    after [t.leave] is filled. [mask] holds the signals blocked by the caller.
    The thread blocks all signals, to be sure to resolve [t.over].

    - {b Suspends} until [r] is there, where [f] does, and until [t.over] is
      resolved.
    - {b Cancelled} while it waits for [r] or in [f], it raises the exception
      there. The wait for [t.over] is {{!Concord.Tasks.protect}protected}.
    - {b Raises} [e] if [f] raises [e]. Otherwise it raises the exception of
      [body], or [Sys_error] if the thread can't be started. *)

(** {2 A loop in a domain of its own} *)

val check_grace : string -> float -> unit
(** [check_grace what grace] raises [Invalid_argument], which names [what], if
    [grace] is negative or not a number. *)

val with_loop :
  no_loop:exn -> ?ended:('r t -> unit) -> ('r t -> unit) -> ('r -> 'a) -> 'a
(** [with_loop ~no_loop ~ended serve f] is {!within}, whose thread spawns a
    domain and joins it. The domain has the caller's signal mask, and calls
    [serve t], which runs a loop, and then [ended t].

    If [f] raises [no_loop], and the loop has failed, [with_loop] raises the
    loop's exception, because it is the reason. *)
