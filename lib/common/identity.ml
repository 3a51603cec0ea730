(* This is all of [Obj] in the library. Each function says what it buys, and what it
   relies on. *)

(* Tells whether an unhandled effect is the very one that was performed here, or one
   that an outcome carried in; their types are not known to be equal. [Obj.repr] only
   changes the type. *)
let equal a b = Obj.repr a == Obj.repr b

(* Saves clearing a slot: a tenth of the time of a suspension. [Obj.is_int] is the
   question that the collector asks. A wrong [true] would keep a value alive for
   longer, and no more. *)
let[@inline] is_immediate v = Obj.is_int (Obj.repr v)

(* Erases what was taken out of a queue, and saves a box around each item: two words of
   eight. The slot is a field of a constructor that has other fields, so that it is
   never a flat array or record of floats: the collector sees an integer there, as it
   does in a field of type [int]. No code looks at the slot again. *)
let[@inline] nothing () = Obj.magic 0

(* --- Closures ------------------------------------------------------------- *)

(* Tells whose trigger it is without calling it. The first field of a closure is its
   code, if it takes one argument. It is read as an integer, as the collector must not
   take it for a value; [Obj.raw_field] would allocate, and cost a tenth of a message
   in Eio. *)
type closure = { code : int }

let[@inline] same_code f g =
  (Obj.magic f : closure).code == (Obj.magic g : closure).code

(* Two functions of different code, whose closures have fields of their own. *)
let[@inline never] adder n = Sys.opaque_identity (fun m -> m + n)
let[@inline never] multiplier n = Sys.opaque_identity (fun m -> m * n)

let check ~same_code =
  let plus_1 = adder 1 and plus_2 = adder 2 and times_2 = multiplier 2 in
  if
    (not (same_code plus_1 plus_1))
    || (not (same_code plus_1 plus_2))
    || same_code plus_2 times_2
  then
    failwith
      "Concord: this compiler represents functions in an unknown way, so that \
       schedulers cannot be told apart"

(* A compiler to JavaScript, for one, has no such field: then all closures would seem
   to have the same code, and tasks be suspended by the wrong scheduler. *)
let () = check ~same_code
