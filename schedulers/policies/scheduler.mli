(** A scheduler, for any policy. *)

exception Cancelled

module type S = sig
  type priority

  val run : ?priority:priority -> (unit -> 'a) -> 'a
  val with_priority : priority -> (unit -> 'a) -> 'a
end

module Make (P : Policy.S) : S with type priority = P.priority
