(** The choice of the ready task that runs next. *)

type reason =
  | Forked  (** It has not begun. *)
  | Resumed  (** The operation that it waited for has completed. *)
  | Yielded  (** It lets other tasks run first. *)

module type S = sig
  val name : string
  (** For reports. *)

  type priority
  (** The data by which the policy orders tasks. *)

  val default : priority

  type 'a t
  (** The ready tasks. Only the thread that runs the scheduler uses it. *)

  val create : unit -> 'a t

  val add : 'a t -> priority -> reason -> 'a -> unit
  (** A task has become ready, for this reason. *)

  val take : 'a t -> 'a option
  (** Removes the task that runs next. [None] only if there is none. *)

  val is_empty : 'a t -> bool
end

module Fifo : S with type priority = unit
module Lifo : S with type priority = unit
module Levels : S with type priority = int
module Deadline : S with type priority = float
