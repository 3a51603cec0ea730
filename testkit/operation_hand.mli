(** Tasks that are driven by hand: the suite decides when a resumed task goes
    on, when one is cancelled, and what happens between the two. It keeps the
    contract of a host, and notes what breaks that of a structure. *)

type t
(** A scheduler. One thread drives it; any may resume its tasks. *)

val create : unit -> t

exception Cancelled
(** Raised in a cancelled task. *)

exception Interrupt
(** For what is raised by others than the host: a signal handler, say. *)

(** {1 Tasks} *)

type 'a task

type hooks = {
  performs : unit -> unit;  (** The effect was performed: before [block]. *)
  waits : unit -> unit;  (** After [block], if it has registered. *)
  resumes : unit -> unit;  (** A resumer was called, and has not decided. *)
  resumed : unit -> unit;  (** It has, and will answer [true]. *)
}
(** What is called in each wait of a task. *)

val no_hooks : hooks

val start :
  ?hooks:hooks ->
  ?cancelled:[ `Before_block | `At_block ] ->
  t ->
  (unit -> 'a) ->
  'a task
(** [start t f] runs [f] until it waits, or ends. A task that is [cancelled]
    from the start raises {!Cancelled} at each suspension, and [block] is not
    called; or it is, and finds that the task refuses. *)

val settle : t -> unit
(** Lets the resumed and the cancelled tasks go on, in the order in which they
    became ready, until all wait. *)

val cancel : ?by:exn -> _ task -> bool
(** A task that waits is to raise {!Cancelled}, or [by], in {!settle}. [false]
    if it was resumed or cancelled before, or is protected. *)

type 'a outcome =
  | Waits
  | Returned of 'a
  | Raised of exn * Printexc.raw_backtrace

val outcome : 'a task -> 'a outcome

(** {1 Faults} *)

type fault =
  | Block  (** Of [block], S1. *)
  | Again  (** A resumer that had answered [true] was called again. *)

val faults : t -> fault -> string list
(** What was seen. *)
