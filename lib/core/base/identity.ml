(* The library uses [Obj] only in this file, in [attached_data.ml], and for addresses in [address.ml]. The comment on
   each function says what the function gains, and what it relies on. *)

(* Two unhandled effects may have different types, and still be the same effect. The caller
   asks whether an unhandled effect is the one that was performed here, or one that came out of
   an outcome. [Obj.repr] only changes the type. *)
let equal a b = Obj.repr a == Obj.repr b

(* If a slot holds an immediate value, it doesn't have to be cleared. This saves a tenth of the
   time of a suspension. [Obj.is_int] asks what the collector asks. A wrong [true] would only
   keep a value alive for longer. *)
let[@inline] is_immediate v = Obj.is_int (Obj.repr v)

(* Overwrites a value that was taken out of a queue, and saves a box around each item, which is
   two words of eight. The slot is a field of a constructor that has other fields, so it is
   never in a flat array or record of floats. The collector therefore sees an integer there, as
   in a field of type [int]. Afterwards only [is_immediate] reads the slot. *)
let[@inline] nothing () = Obj.magic 0

(* --- Pointers -------------------------------------------------------------- *)

(* A pointer compares values of any types, and doesn't keep its target alive. [Obj.repr] only
   changes the type. The library only compares the address of what it reads from a pointer, and
   never gives the value a type again.

   The collector visits all weak pointers, and has faults there (see doc/limits.mld). So if a
   pointer doesn't live longer than its target, it is a strong pointer that is released. *)
type pointer =
  | Weakly of Obj.Ephemeron.t (* with one key *)
  | Strongly of Obj.t option Atomic.t

(* Up to OCaml 5.4, a domain has to clear its weak pointers before it ends (see doc/limits.mld).
   If a finaliser raises here, nobody would hear of it. *)
let collect _ =
  match Gc.major_slice (max_int / 2) with (_ : int) -> () | exception _ -> ()

let at_end =
  Domain.DLS.new_key (fun () ->
      if not (Domain.is_main_domain ()) then
        Domain.at_exit (fun () -> Signals.while_blocked collect))

let clear_at_end () = Domain.DLS.get at_end

let weakly v =
  let block = Obj.Ephemeron.create 1 in
  Obj.Ephemeron.set_key block 0 (Obj.repr v);
  clear_at_end ();
  block

let pointer v = Weakly (weakly v)
let strong_pointer v = Strongly (Atomic.make (Some (Obj.repr v)))

let release = function
  | Strongly target -> Atomic.set target None
  | Weakly _ -> ()

let target = function
  | Weakly block -> Obj.Ephemeron.get_key block 0
  | Strongly target -> Atomic.get target

(* [Obj.obj] gives the target its own type again, because [f] was passed together with [v]. *)
let viewed v f =
  let pointer = pointer v in
  (pointer, fun () -> Option.map (fun v -> f (Obj.obj v)) (target pointer))

let nowhere = Strongly (Atomic.make None)
let is_nowhere pointer = pointer == nowhere

let is_collected = function
  | Weakly block -> not (Obj.Ephemeron.check_key block 0)
  | Strongly target -> Option.is_none (Atomic.get target)

let is thing v = match thing with Some thing -> thing == v | None -> false
let points_to pointer v = is (target pointer) (Obj.repr v)

let same_target a b =
  match target a with Some thing -> points_to b thing | None -> false

let of_ephemeron block = Weakly block

(* --- Closures ------------------------------------------------------------- *)

(* Tells which library made a trigger, without calling it. If a closure takes one argument, its
   first field is its code. The field is read as an integer, because the collector must not
   take the code for a value. [Obj.raw_field] would allocate, which costs a tenth of a message
   in Eio. *)
type closure = { code : int }

let[@inline] same_code f g =
  (Obj.magic f : closure).code == (Obj.magic g : closure).code

(* Tells whether an unhandled effect is the caller's own, without keeping the effect's function
   alive. The other fields of a closure are its variables and integers, and its code, which is
   only compared. *)
let is_closed_over f v =
  let f = Obj.repr f and v = Obj.repr v in
  let rec is_among n =
    n > 0 && (Obj.field f (n - 1) == v || is_among (n - 1))
  in
  Obj.tag f = Obj.closure_tag && is_among (Obj.size f)

(* Two functions with different code, whose closures also have fields. *)
let[@inline never] getter v = Sys.opaque_identity (fun () -> !v)
let[@inline never] taker v = Sys.opaque_identity (fun () -> !v - 1)

let check ~same_code ~is_closed_over =
  let a = ref 0 and b = ref 0 in
  let get_a = getter a and get_b = getter b and take_b = taker b in
  if
    (not (same_code get_a get_a))
    || (not (same_code get_a get_b))
    || same_code get_b take_b
    || (not (is_closed_over get_a a))
    || is_closed_over get_a b
  then
    failwith
      "Concord: this compiler represents functions in an unknown way, so \
       Concord can't distinguish schedulers"

(* Some compilers, for example to JavaScript, have no such field. All closures would then seem
   to have the same code, and the wrong scheduler would suspend tasks. *)
let () = check ~same_code ~is_closed_over
