(** Functions that whoever resolves a promise calls. *)

val run : (unit -> 'a) -> 'a
(** [run f] is [f ()], of which no effect is handled outside, but questions
    ([Ask]).

    - {b Raises} [Invalid_argument] where [f] would suspend. An effect that is
      not handled in [f] raises [Effect.Unhandled] there; what leaves [f] of
      these is [Invalid_argument] as well, and so is what {!Reach.misused} says.
*)
