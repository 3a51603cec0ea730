(** Running the functions that are called when a promise is resolved. *)

val run : (unit -> 'a) -> 'a
(** [run f] calls [f ()]. No handler outside handles its effects, except for
    questions ([Ask]).

    - {b Raises} [Invalid_argument] if [f] would suspend. An effect that [f]
      itself doesn't handle raises [Effect.Unhandled] in [f]. If that exception
      leaves [f], it becomes [Invalid_argument] too, and so does
      {!Reach.misused}. *)
