(** A structure and its description, for the suite of structure tests. *)

open Concord

module type STRUCTURE = sig
  include Description.S
  (** The description. *)

  type t
  (** The structure. *)

  val create : unit -> t

  val call : t -> operation -> string
  (** Performs the operation. The result is as in the description, also if the
      operation raises. It must not catch the exception of a cancelled task. *)

  val event : t -> operation -> string Event.t option
  (** The event of an operation that may wait, if there is one. *)

  val try_call : t -> operation -> string option option
  (** [Some (Some result)] if the operation has a form that doesn't wait, and it
      returned, and [Some None] if it would have waited. [None] if there is no
      such form. *)

  val waiters : t -> int
  (** The number of waiting tasks. *)
end
