(** Tasks that are driven by hand. The suite decides when a resumed task
    continues, when a task is cancelled, and what happens between the two. The
    scheduler keeps the contract of a host, and notes the faults of a structure.
*)

type t
(** A scheduler. One thread drives it, and any thread may resume its tasks. *)

val create : unit -> t

exception Cancelled
(** Raised in a cancelled task. *)

exception Interrupt
(** For exceptions that others than the host raise, for example a signal
    handler. *)

(** {1 Tasks} *)

type 'a task

type hooks = {
  performs : unit -> unit;
      (** The effect was performed, and [block] comes next. *)
  waits : unit -> unit;  (** After [block], if it has registered. *)
  resumes : unit -> unit;  (** A resumer was called, and has not decided. *)
  resumed : unit -> unit;
      (** The resumer has decided, and will return [true]. *)
}
(** Functions that are called in each wait of a task. *)

val no_hooks : hooks

val start :
  ?hooks:hooks ->
  ?cancelled:[ `Before_block | `At_block ] ->
  t ->
  (unit -> 'a) ->
  'a task
(** [start t f] runs [f] until it waits, or ends. If a task is [cancelled] from
    the start, it raises {!Cancelled} at each suspension. By [`Before_block],
    [block] is not called. By [`At_block], it is called, and the resumer
    refuses. *)

val settle : t -> unit
(** Lets the resumed and the cancelled tasks continue, in the order in which
    they became ready, until all wait. *)

val cancel : ?by:exn -> _ task -> bool
(** Makes a waiting task raise {!Cancelled}, or [by], in {!settle}. It is
    [false] if the task was resumed or cancelled before, or is protected. *)

val stop : _ task -> bool
(** Like {!cancel}, but if it is [true], the task also raises {!Cancelled} at
    each later suspension. *)

type 'a outcome =
  | Waits
  | Returned of 'a
  | Raised of exn * Printexc.raw_backtrace

val outcome : 'a task -> 'a outcome

(** {1 Faults} *)

type fault =
  | Block  (** A fault of [block] (S1). *)
  | Again  (** A resumer that had returned [true] was called again. *)

val faults : t -> fault -> string list
(** The faults that were seen. *)
