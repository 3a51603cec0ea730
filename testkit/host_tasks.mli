(** The building blocks of the checks of hosts. *)

open Host_signature

type clause = {
  name : string;
  about : string;
  read : string;
      (** The section of the page for authors of schedulers that explains it. *)
  optional : bool;  (** [true] if a host may declare it as not offered. *)
  cases : Trial.case list;
}

type running
(** A loop, in which the caller is a task. *)

val in_task : (module HOST) -> (running -> 'a) -> 'a
(** [run], for a host about which nothing is known. If the function raises, the
    exception is raised here, even if the host swallows it. *)

type 'a forked = {
  ended : 'a Concord.Promise.t;  (** Its value, or its exception. *)
  cancel : unit -> unit;  (** For hosts that can cancel. *)
}

val fork : running -> (unit -> 'a) -> 'a forked
(** A new task. *)

val needs_cancellation : (module HOST) -> unit
(** - {b Raises} {!Trial.Not_offered} if the host cannot cancel. *)

val until : running -> (unit -> bool) -> unit
(** Lets the other tasks, threads and domains run until the condition is true.
    For tasks that are not cancelled. *)

val until_for : running -> float -> (unit -> bool) -> bool
(** {!until}, but for at most so many seconds. Returns the condition. *)

val poll : (unit -> bool) -> unit
(** {!until} for a thread that runs no task. *)

val poll_for : float -> (unit -> bool) -> bool
(** {!poll}, but for at most so many seconds. Returns the condition. *)

val patience : float
(** In seconds, for actions that take less than a millisecond, unless the
    machine is very busy. *)

val watched : (unit -> 'a) -> ((unit -> bool) -> unit) -> 'a
(** [watched f stuck] is [f ()]. A thread calls [stuck is_over] if [f] does not
    return within {!patience}. [is_over ()] tells whether it has returned since.
*)

val soon : (unit -> bool) -> unit
(** {!poll}, except that it notices within a microsecond if the condition
    becomes true soon. *)

val spin : int -> unit
(** Computes for a time in proportion to the number: [1000] are microseconds. *)

val beside : (unit -> unit) -> (unit -> 'a) -> 'a
(** [beside other f] is [f ()], with [other ()] in another domain meanwhile. It
    returns when both have ended. The check fails if [other] raises. *)

val in_thread : (unit -> unit) -> unit
(** Calls the function in another thread, and blocks the calling one meanwhile.
    The check fails if it raises. *)

val self : unit -> int
(** The calling thread. *)

(** {2 Resumers that are passed on} *)

type 'a post
(** A slot for one resumer, with which no task waits. *)

val post : unit -> 'a post
(** An empty slot. *)

val is_empty : 'a post -> bool
val put : 'a post -> 'a Concord.Tools.Suspend.resumer -> unit

val peek : 'a post -> 'a Concord.Tools.Suspend.resumer
(** The resumer, which stays there.
    - {b Raises} [Invalid_argument] if there is none. *)

val take : 'a post -> 'a Concord.Tools.Suspend.resumer option
(** Takes the resumer out, if there is one. *)

val wait_in : 'a post -> 'a
(** Suspends, with the resumer in the slot. *)

val collect : 'a post -> 'a Concord.Tools.Suspend.resumer
(** Polls for the resumer, takes it out, and blocks the thread meanwhile. *)
