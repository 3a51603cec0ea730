(** What decides which ready task is next. *)

type reason =
  | Forked  (** It has not begun. *)
  | Resumed  (** What it waited for has come. *)
  | Yielded  (** It lets others go first. *)

module type S = sig
  val name : string
  (** For reports. *)

  type priority
  (** What is known of a task. *)

  val default : priority

  type 'a t
  (** The ready tasks. Only the thread that runs the scheduler uses it. *)

  val create : unit -> 'a t

  val add : 'a t -> priority -> reason -> 'a -> unit
  (** A task has become ready, for this reason. *)

  val take : 'a t -> 'a option
  (** Removes the task that is next. [None] only if there is none. *)

  val is_empty : 'a t -> bool
end

module Fifo : S with type priority = unit
module Lifo : S with type priority = unit
module Levels : S with type priority = int
module Deadline : S with type priority = float
