(** Stdlib's lazy values, which {!Lazy.of_stdlib} forces. *)

exception Being_forced

type 'a forced =
  | Forced of 'a
  | Elsewhere of (unit -> unit)
      (** Another owner is forcing the same value. This is its [await]. *)

val force :
  'a Stdlib.Lazy.t -> owner:Forcing.any -> await:(unit -> unit) -> 'a forced
(** [force l ~owner ~await] forces [l], protected, on behalf of the lazy value
    [owner], unless another owner is forcing it.

    - {b Raises} {!Being_forced} if code without an owner is forcing [l]. *)
