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
   does in a field of type [int]. No code looks at the slot again, but to ask
   [is_immediate]. *)
let[@inline] nothing () = Obj.magic 0

(* --- Pointers -------------------------------------------------------------- *)

(* Tells which of many things of any types a thing is, while those that nobody else needs
   are collected. [Obj.repr] only changes the type; what comes out is compared by address,
   and is never given back with a type.

   The collector has to go through all weak pointers, and has faults there: see
   doc/limits.mld. So what lives no longer than its target has a strong pointer, until
   that is released. *)
type pointer =
  | Nowhere
  | Weakly of Obj.Ephemeron.t (* of one key *)
  | Strongly of Obj.t option Atomic.t

let weakly v =
  let block = Obj.Ephemeron.create 1 in
  Obj.Ephemeron.set_key block 0 (Obj.repr v);
  block

let pointer v = Weakly (weakly v)
let strong_pointer v = Strongly (Atomic.make (Some (Obj.repr v)))

let release = function
  | Strongly target -> Atomic.set target None
  | Nowhere | Weakly _ -> ()

let target = function
  | Nowhere -> None
  | Weakly block -> Obj.Ephemeron.get_key block 0
  | Strongly target -> Atomic.get target

(* What comes out here has its type again: the function was given with the value. *)
let viewed v f =
  let pointer = pointer v in
  (pointer, fun () -> Option.map (fun v -> f (Obj.obj v)) (target pointer))

let nowhere = Nowhere
let is_nowhere = function Nowhere -> true | Weakly _ | Strongly _ -> false

let is_collected = function
  | Nowhere -> true
  | Weakly block -> not (Obj.Ephemeron.check_key block 0)
  | Strongly target -> Option.is_none (Atomic.get target)

let is thing v = match thing with Some thing -> thing == v | None -> false
let points_to pointer v = is (target pointer) (Obj.repr v)

let same_target a b =
  match target a with Some thing -> points_to b thing | None -> false

(* What is attached to a thing may refer to it, and does not keep it alive either. One block
   of the collector's has both: it costs as much as a weak pointer. What comes out has the
   type with which it was attached. *)
type 'a attached = Obj.Ephemeron.t

let attach v attached =
  let block = weakly v in
  Obj.Ephemeron.set_data block (Obj.repr attached);
  block

let attach_to_target pointer attached =
  Option.map (fun thing -> attach thing attached) (target pointer)

let owner block = Weakly block
let is_useless block = is_collected (owner block)

(* While [thing] is alive, so is what is attached to it. *)
let data block thing =
  let data = Obj.Ephemeron.get_data block in
  ignore (Sys.opaque_identity thing : Obj.t);
  Option.map Obj.obj data

let attached block = Option.bind (Obj.Ephemeron.get_key block 0) (data block)

let attached_to pointer block =
  match target pointer with
  | Some thing when points_to (owner block) thing -> data block thing
  | Some _ | None -> None

(* Many pointers are told apart by the addresses of what they point to. What the minor
   collection leaves does not move any more, unless the program compacts the heap. *)
let address = function
  | None -> 0
  | Some _ as thing ->
      Nativeint.to_int
        (Nativeint.shift_right_logical (Obj.raw_field (Obj.repr thing) 0) 1)

let compactions () = (Gc.quick_stat ()).compactions

let rec addresses things =
  Gc.minor ();
  let before = compactions () in
  let found = Array.map address things in
  if compactions () = before then found else addresses things

let numbers pointers =
  let things = Array.map target pointers in
  let known = Hashtbl.create (Array.length things) in
  let number thing address =
    if Option.is_none thing then -1
    else
      match Hashtbl.find_opt known address with
      | Some number -> number
      | None ->
          let number = Hashtbl.length known in
          Hashtbl.add known address number;
          number
  in
  let numbers = Array.map2 number things (addresses things) in
  (* they are alive until here, so that no address is used again *)
  ignore (Sys.opaque_identity things : Obj.t option array);
  numbers

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
