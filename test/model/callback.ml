(* Handles no effects, unlike the library's [Callback.run], because operations on the traced
   atomics of a model are effects. *)

let run f = f ()
