(* This is all of [Obj] in the library. It tells whether an unhandled effect is
   the very one that was performed here, or one that an outcome carried in. *)
let equal a b = Obj.repr a == Obj.repr b
