(* caml/frame_descriptors.h and backtrace_nat.c of OCaml describe this:

   Bytes  Are
   8      the address to which the function returns
   2      the size of the frame, a multiple of 4, plus 1 with a place in the source, plus 2 if
          something is allocated there; 65535 where C called OCaml
   2      the number of values in the frame
   2 each where they are: offsets from the frame's beginning, or with bit 0, in a register
   1      if something is allocated, how often
   1 each its sizes
   4 each after that, from the next multiple of 4 on, the distance to the place in the source, one
          for each allocation
   0 to 7 up to the next multiple of 8 *)

module Table = Hashtbl.Make (Int)

type frame = int
type t = { memory : Memory.t; frames : frame Table.t }

let from_c = 0xffff
let up_to address multiple = (address + multiple - 1) land lnot (multiple - 1)
let flags memory frame = Memory.quarter memory (frame + 8)
let number_of_values memory frame = Memory.quarter memory (frame + 10)
let after_values memory frame = frame + 12 + (2 * number_of_values memory frame)
let has_place flags = flags land 1 <> 0
let allocates flags = flags land 2 <> 0

(* The address of the places, and their number. *)
let places memory frame =
  let flags = flags memory frame and at = after_values memory frame in
  if not (allocates flags) then (up_to at 4, 1)
  else
    let n = Memory.byte memory at in
    (up_to (at + 1 + n) 4, n)

let after memory frame =
  let flags = flags memory frame in
  let stop =
    if flags = from_c then frame + 12
    else if has_place flags then
      let at, n = places memory frame in
      at + (4 * n)
    else
      let at = after_values memory frame in
      if allocates flags then at + 1 + Memory.byte memory at else at
  in
  up_to stop 8

let read memory address =
  let frames = Table.create 100_000 in
  let rec add frame n =
    if n > 0 then begin
      Table.replace frames (Memory.word memory frame) frame;
      add (after memory frame) (n - 1)
    end
  in
  let rec from at =
    match Memory.word memory at with
    | 0 -> ()
    | unit_ ->
        add (unit_ + 8) (Memory.word memory unit_);
        from (at + 8)
  in
  from address;
  { memory; frames }

let find t return = Table.find_opt t.frames return

let between t first after =
  Table.fold
    (fun return _ found ->
      if first < return && return <= after then return :: found else found)
    t.frames []

let values { memory; _ } frame =
  List.init (number_of_values memory frame) (fun i ->
      Memory.quarter memory (frame + 12 + (2 * i)))
  |> List.filter (fun offset -> offset land 1 = 0)

let caller t frame ~stack =
  if flags t.memory frame = from_c then None
  else
    let stack = stack + (flags t.memory frame land lnot 3) in
    Option.map
      (fun frame -> (frame, stack))
      (find t (Memory.word t.memory (stack - 8)))

type line = { name : string; file : string; line : int }

let signed n = if n >= 0x8000_0000 then n - 0x1_0000_0000 else n
let most_inlined = 100

(* A place has two numbers of 32 bits:

   Bits      Of      Are
   0         first   1 if the place of the caller follows, into which the function was inlined
   2 to 25   first   the distance to the names, in bytes
   31        second  1 if the line and columns are elsewhere, behind the first name
   19 to 30  second  the line
   12 to 30  second  the line, if bit 31 is 1

   The names are the distance to the file's name, and then the function's. *)
let line memory at =
  let first = Memory.half memory at and second = Memory.half memory (at + 4) in
  let names = at + (first land 0x3ff_fffc) in
  let file = Memory.text memory (names + signed (Memory.half memory names)) in
  if second land 0x8000_0000 <> 0 then
    {
      name = Memory.text memory (names + 12);
      file;
      line = (second lsr 12) land 0x7_ffff;
    }
  else { name = Memory.text memory (names + 4); file; line = second lsr 19 }

let lines { memory; _ } frame =
  let flags = flags memory frame in
  if flags = from_c || not (has_place flags) then []
  else
    let distance_at, _ = places memory frame in
    let rec from at n =
      let line = line memory at in
      if n > 0 && Memory.half memory at land 1 <> 0 then
        line :: from (at + 8) (n - 1)
      else [ line ]
    in
    from (distance_at + Memory.half memory distance_at) most_inlined
