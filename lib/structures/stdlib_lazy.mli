(** Stdlib's lazy values, which {!Lazy.of_stdlib} forces. *)

exception Being_forced

type 'a forced =
  | Forced of 'a
  | Elsewhere of (unit -> unit)
      (** Another owner forces the same value: its [await]. *)

val force :
  'a Stdlib.Lazy.t -> owner:Forcing.any -> await:(unit -> unit) -> 'a forced
(** Forces the value, protected, on behalf of the lazy value [owner], unless
    another owner does so.
    @raise Being_forced if somebody who is no owner forces it. *)
