(* caml/mlvalues.h, caml/shared_heap.h and caml/domain_state.tbl of OCaml describe this. *)

type t = {
  memory : Memory.t;
  young_from_at : int;
  young_to_at : int;
  colours_at : int;
  mutable young_from : int;
  mutable young_to : int;
  mutable garbage : int;  (** The colour of garbage, which changes in turns. *)
  mutable domains : int list;
}

let word t address = Memory.word t.memory address

let refresh t =
  t.young_from <- word t t.young_from_at;
  t.young_to <- word t t.young_to_at;
  t.garbage <- word t (t.colours_at + 16)

let create memory ~symbol =
  let t =
    {
      memory;
      young_from_at = symbol "caml_minor_heaps_start";
      young_to_at = symbol "caml_minor_heaps_end";
      colours_at = symbol "caml_global_heap_state";
      young_from = 0;
      young_to = 0;
      garbage = 0;
      domains = [];
    }
  in
  refresh t;
  t

let[@inline] is_young t address =
  address >= t.young_from && address < t.young_to

(* --- Domains ---------------------------------------------------------------------- *)

(* The state of a domain has, one after the other, where its minor heap continues to be filled
   (downwards), where it begins and ends, and where the next interruption is due. *)
let is_domain t word =
  is_young t (word 0)
  && begin
    let from = word 1 and upto = word 2 and trigger = word 3 in
    is_young t from && upto <= t.young_to && from < upto
    && from land 0xfff = 0
    && upto land 0xfff = 0
    && from <= word 0
    && word 0 <= upto
    && from <= trigger && trigger <= upto
  end

let note_domain t address =
  if not (List.mem address t.domains) then t.domains <- address :: t.domains

let is_in_use t young =
  List.exists
    (fun domain ->
      let word i = word t (domain + (8 * i)) in
      is_domain t word && young >= word 0 && young < word 2)
    t.domains

(* --- Blocks ----------------------------------------------------------------------- *)

let header t block = word t (block - 8)
let size t block = (header t block lsr 10) land 0x3f_ffff_ffff
let tag t block = header t block land 0xff
let largest = 1 lsl 24
let is_pointer v = v > 4096 && v land 7 = 0

let forwarded t v =
  if is_pointer v && Memory.is_readable t.memory (v - 8) && header t v = 0 then begin
    let copy = word t v in
    if is_pointer copy then copy else v
  end
  else v

let is_block t v =
  is_pointer v
  && Memory.is_readable t.memory (v - 8)
  &&
  let size = size t v in
  size > 0 && size < largest
  && Memory.is_readable t.memory v
  && Memory.is_readable t.memory (v + (8 * (size - 1)))

let field t block i = forwarded t (word t (block + (8 * i)))
let forced_or_lazy = 245
let closure = 247
let object_ = 248
let string = 252

(* Tags from [forced_or_lazy] on are continuations, lazy values, functions, objects and the like. *)
let has_fields t v = tag t v < forced_or_lazy || tag t v = object_
let is_function t v = is_block t v && tag t v = closure

let text t v =
  if not (is_block t v && tag t v = string) then ""
  else
    let bytes = 8 * size t v in
    let padding = Memory.byte t.memory (v + bytes - 1) in
    let length = Int.min 1_000 (Int.max 0 (bytes - 1 - padding)) in
    Memory.bytes t.memory v ~length

(* A function of one argument has its code in the first field. Others have the code for partial
   application there, and their own in the third field. The second field has the number of
   arguments in its upper 8 bits. *)
let code t v =
  let arity = word t (v + 8) lsr 56 in
  if arity <= 1 then word t v else word t (v + 16)

let colours = 0x300

(* Blocks in the minor heap have no colour. *)
let is_garbage t v =
  if is_young t v then not (is_in_use t v)
  else header t v land colours = t.garbage
