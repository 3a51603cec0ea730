(** What the suite for structures has to know of an operation. *)

open Concord

(** See [Operation.service]. *)
type service = Signals | Takes | Gives | Trades | Shares | Passes | Meets

module type OPERATION = sig
  type t
  (** The structure. *)

  val name : string
  (** For the report. *)

  val service : service

  val create : int -> t
  (** A new structure, in the state in which {!wait} has to wait: a lock is
      held, a bounded queue is full if one waits to add. At most so many tasks
      will wait at the same time; for [Meets], the parties are one more. What
      the structure holds from the start is the number 0. *)

  val wait : t -> int -> int
  (** [wait t x] performs the operation that may wait. The task gives the number
      [x], unless it gives nothing, and the result is what it gets, or 0. *)

  val release : t -> int -> int
  (** [release t x] lets a task go on that waits. It gives the number [x],
      unless it gives nothing. The result is what it gets, or 0; it is [x]
      itself if nobody was there to take it.

      It may wait, for somebody to come: it is cancelled if nobody does. For
      [Meets] it waits as {!wait} does. If the operation {!keeps}, it is called
      only when all earlier releases were used up, by whoever waited: so it may
      be what unlocks a lock. For [Shares] and [Passes] it is called once then.
  *)

  val keeps : bool
  (** A release for which nobody waits lets the next one who comes go on. *)

  val in_order : bool
  (** Who came first goes on first (S4). The suite's tasks do not wait in
      threads that sleep: so a structure passes that lets others overtake these.
  *)

  val interruptible : bool
  (** If a resumer raises what a signal handler has raised, after its decision,
      then the release has resumed that task and no other, and leaves the
      structure as usual. *)

  val event : (t -> int -> int Event.t) option
  (** {!wait}, as an event. *)

  val release_event : (t -> int -> int Event.t) option
  (** {!release}, as an event. With it, the two sides of the structure are
      offered in one choice, which must not meet itself. *)

  val close : (exn * (t -> unit)) option
  (** Ends it, for ever: all who wait, and all who come, get this exception. *)

  val waiters : (t -> int) option
  (** How many tasks wait. *)

  val fail : (t -> exn -> Printexc.raw_backtrace -> unit) option
  (** Lets all who wait go on with this exception, and with its backtrace. *)
end
