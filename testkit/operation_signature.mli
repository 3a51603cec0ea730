(** The description of an operation for the suite of structure tests. *)

open Concord

(** See [Operation.service]. *)
type service = Signals | Takes | Gives | Trades | Shares | Passes | Meets

module type OPERATION = sig
  (** {2 The structure} *)

  type t
  (** The structure. *)

  val name : string
  (** The name in the report. *)

  val service : service
  (** The effect of {!release} on the waiting tasks. *)

  val create : int -> t
  (** [create n] is a new structure, in the state in which {!wait} has to wait.

      For example, a lock is held, or a bounded queue is full if the operation
      is to add. At most [n] tasks will wait at the same time. For [Meets], the
      parties are one more. An item that the structure holds from the start is
      the number 0. *)

  (** {2 The two operations} *)

  val wait : t -> int -> int
  (** [wait t x] performs the blocking operation.

      The task gives the number [x], unless it gives nothing. The result is the
      number it gets, or 0. *)

  val release : t -> int -> int
  (** [release t x] lets a waiting task continue.

      It gives the number [x], unless it gives nothing. The result is the number
      it gets, or 0. If no task was there to take [x], the result is [x] itself.

      It may wait for a task to come, and is cancelled if none does. For [Meets]
      it waits as {!wait} does. If the operation {!keeps}, it is called only
      when all earlier releases were used up, so it may be the function to
      unlock a lock. For [Shares] and [Passes] it is called once then. *)

  (** {2 What the structure promises} *)

  val keeps : bool
  (** [true] if a release with no waiting task lets the next task to come
      continue. *)

  val in_order : bool
  (** [true] if the first task to come continues first (S4). The suite's tasks
      don't wait in sleeping threads, so a structure passes even if others may
      overtake these. *)

  val interruptible : bool
  (** [true] if a release keeps this rule. If a resumer raises the exception of
      a signal handler, after its decision, the release has resumed this task
      and no other, and leaves the structure as usual. If the release is for all
      tasks ([Shares]), or {!close} is interrupted, all of them are resumed. *)

  val repeats : bool
  (** [true] if one choice may have {!event} twice. It is then performed once.
  *)

  (** {2 What the structure also has} *)

  val event : (t -> int -> int Event.t) option
  (** {!wait}, as an event. *)

  val release_event : (t -> int -> int Event.t) option
  (** {!release}, as an event. With it, the suite offers the two sides of the
      structure in one choice, which must not meet itself. *)

  val close : (exn * (t -> unit)) option
  (** Ends the structure, forever. All waiting tasks, and all later ones, get
      this exception. *)

  val waiters : (t -> int) option
  (** The number of waiting tasks. *)

  val fail : (t -> exn -> Printexc.raw_backtrace -> unit) option
  (** Lets all waiting tasks continue with this exception, and with its
      backtrace. *)
end
