(* This is all of [Obj] in the library. [equal] tells whether an unhandled effect is
   the very one that was performed here, or one that an outcome carried in.
   [is_immediate] saves clearing a slot: a tenth of the time of a suspension.
   [nothing] erases what was taken out of a queue, of which no type of the user's has a
   value, and saves a box around each item: two words of eight. [same_code] tells whose
   trigger it is without calling it: the first field of a closure is its code, if it
   takes one argument. It is read as an integer, as the collector must not take it for
   a value; [Obj.raw_field] would allocate, and cost a tenth of a message in Eio. *)
let equal a b = Obj.repr a == Obj.repr b
let[@inline] is_immediate v = Obj.is_int (Obj.repr v)
let[@inline] nothing () = Obj.magic 0

type closure = { code : int }

let[@inline] same_code f g =
  (Obj.magic f : closure).code == (Obj.magic g : closure).code
