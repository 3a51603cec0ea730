(* Continues lazy_constructors.ml, with programs that need types in order to be accepted, and
   or-patterns. *)

let string = string_of_int

(* --- function, with the type of its result -------------------------------- *)

let result x : int Lazy.t -> int = function (lazy 0) -> x | (lazy n) -> x + n

let result_of_two (lazy x) : int Lazy.t -> int -> int = function
  | (lazy 0) -> fun y -> x + y
  | (lazy n) -> fun y -> n - y

let result_coerced x :> int Lazy.t -> int = function
  | (lazy 0) -> x
  | (lazy n) -> x + n

let () =
  run "result" (fun () -> string (result 1 (a 0) + result 1 (b 3)));
  run "result of two" (fun () ->
      string (result_of_two (a 1) (b 0) 2 + result_of_two (a 1) (b 3) 4));
  run "result, coerced" (fun () -> string (result_coerced 2 (a 3)))

(* --- Definitions without variables, and with polymorphic ones ------------- *)

let once =
  lazy
    (say "once";
     ())

let (lazy ()) = once
let (lazy _) = once
let ((lazy 3) | (lazy 4) | (lazy _)), (lazy ()) = (lazy 3, once)
let two = lazy 2
let (lazy second), identity = (two, fun x -> x)

let (lazy third) = lazy 3
and choose : 'a. 'a -> 'a -> 'a = fun x _ -> x

let (lazy fourth) =
  say "f";
  lazy (second + 2)

and second = 20

let () =
  run "definitions, polymorphic" (fun () ->
      identity "x" ^ choose "y" "z" ^ string (identity (choose third 4)));
  run "definitions, none sees the other" (fun () -> string (fourth + second));
  run "let, polymorphic" (fun () ->
      let (lazy x) = a 4 and f = fun x -> x in
      f "x" ^ string (f x));
  run "let, units" (fun () ->
      let (lazy ()) = once and (lazy _) = b 1 in
      "units")

(* --- GADTs ---------------------------------------------------------------- *)

type _ tag =
  | Int : int tag
  | String : string tag
  | Both : 'a tag * 'b tag -> ('a * 'b) tag

type 'a tagged = { tag : 'a tag Lazy.t; value : 'a }
type packed = Packed : 'a tag Lazy.t * 'a Lazy.t -> packed | Empty
type (_, _) equal = Refl : ('a, 'a) equal

let rec show : type a. a tag Lazy.t * a -> string = function
  | (lazy Int), (n : int) -> string n
  | (lazy String), (s : string) -> s
  | (lazy (Both (t, u))), (x, y) -> show (lazy t, x) ^ show (lazy u, y)

let next : type a. a tagged -> a = function
  | { tag = (lazy Int); value = (n : int) } -> n + 1
  | { tag = (lazy String); value = (s : string) } -> s ^ "!"
  | { tag = (lazy (Both _)); value = x, y } -> (x, y)

let size : packed -> int = function
  | Packed ((lazy Int), (lazy n)) -> n
  | Packed ((lazy String), (lazy s)) -> String.length s
  | Packed ((lazy (Both _)), _) | Empty -> 0

let first_part : type a. a tag -> a Lazy.t -> int =
 fun t l ->
  match (t, l) with
  | Int, (lazy n) -> n
  | String, (lazy s) -> String.length s
  | Both (Int, _), (lazy (n, _)) -> n
  | Both _, _ -> 0

let cast : type a b. (a, b) equal Lazy.t -> a -> b = fun (lazy Refl) x -> x
let cast_int (type a) (lazy (Refl : (int, a) equal)) (x : int) : a = x

let cast_pair (type a) (((lazy Refl) : (int, a) equal Lazy.t), (x : a)) : int =
  x

let () =
  run "gadt" (fun () -> show (lazy (Both (Int, String)), (3, "x")));
  run "gadt, record" (fun () ->
      next { tag = lazy String; value = "a" }
      ^ string (next { tag = lazy Int; value = 1 }));
  run "gadt, packed" (fun () ->
      string (size (Packed (lazy String, later "s" "abc")) + size Empty));
  run "gadt, first" (fun () ->
      string (first_part (Both (Int, String)) (later "l" (4, ""))));
  run "gadt, equal" (fun () ->
      string
        (cast (lazy Refl) 1 + cast_int (lazy Refl) 2 + cast_pair (lazy Refl, 3)))

(* --- What type is expected ------------------------------------------------ *)

type ints = { q : int }
type bools = { q : bool }
type box = Box of ints Lazy.t
type kind = One of int | Two
type other_kind = One | Two
type polymorphic = { poly : 'a. 'a -> 'a }

module type S = sig
  val x : int
end

let box = Box (lazy { q = 4 })

let record : ints Lazy.t =
  lazy
    (say "r";
     { q = 4 })

let records : ints Lazy.t list =
  [
    lazy { q = 1 };
    lazy
      (let q = 2 in
       { q });
  ]

let modul : (module S) Lazy.t =
  lazy
    (module struct
      let x = 3
    end)

let format : (int -> string, unit, string) format Lazy.t = lazy "<%d>"
let optional : (?l:int -> unit -> int) Lazy.t = lazy (fun ?(l = 1) () -> l)
let field : (ints -> int) Lazy.t = lazy (fun x -> x.q)

let constructor : kind Lazy.t =
  lazy (if Sys.opaque_identity true then One 2 else Two)

let constant : kind Lazy.t = lazy Two
let polymorphic : polymorphic Lazy.t = lazy { poly = (fun x -> x) }

let rec itself : ints Lazy.t =
  lazy
    (ignore itself;
     { q = 1 })

let others = ({ q = true }, One, Two)

let () =
  run "expected types" (fun () ->
      let (lazy (module M)) = modul in
      let (lazy format) = format in
      let (lazy optional) = optional and (lazy field) = field in
      let (lazy { poly }) = polymorphic in
      match ((box, record), (constructor, constant), (records, itself)) with
      | ( (Box (lazy { q = x }), (lazy y)),
          ((lazy (One z)), (lazy Two)),
          ([ (lazy { q }); _ ], (lazy i)) ) ->
          let sum = x + y.q + z + q + i.q + M.x + optional () in
          poly (Printf.sprintf format (field { q = sum })) ^ poly ""
      | _ -> "other");
  run "other types" (fun () ->
      match others with { q = true }, One, Two -> "yes" | _ -> "no")

(* --- Or-patterns ---------------------------------------------------------- *)

type tree =
  | Left of int Lazy.t * tree
  | Right of tree * int Lazy.t
  | Leaf of int Lazy.t
  | No

let rec tree = function
  | Left ((lazy 0), No) | Right (No, (lazy 0)) -> "zero"
  | (Left ((lazy n), t) | Right (t, (lazy n)))
    when say "g";
         n > 5 ->
      "big " ^ tree t
  | ( Left ((lazy ((1 | 2) as n)), (Left _ | No))
    | Right ((Right _ | No), (lazy ((3 | 4) as n))) ) as t ->
      string n ^ if t == No then "" else "t"
  | Left (((lazy n) as l), _) | Right (_, ((lazy n) as l)) ->
      if Lazy.is_val l then string n else "no"
  | Leaf ((lazy 1) | (lazy 2)) -> "leaf"
  | Leaf (lazy _) | No -> "other"

let sum = function Leaf (lazy x) | Left ((lazy x), _) -> x | _ -> 0

let deep = function
  | Left ((lazy 0), Left ((lazy 0), Left ((lazy 0), Left ((lazy 0), _)))) -> 1
  | _ -> 0

let wide = function
  | ( ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1),
      ((lazy 0), 0 | (lazy 1), 1) ) ->
      "all"
  | _ -> "not all"

let parameter ((lazy 1) | (lazy _)) = "any"

let () =
  each "or, tree" tree
    [
      Left (a 0, No);
      Right (No, a 0);
      Left (a 7, Left (b 1, No));
      Right (Right (No, a 2), b 6);
      Left (a 1, Left (b 0, No));
      Left (a 2, No);
      Right (No, a 3);
      Right (Left (a 1, No), b 3);
      Left (a 4, No);
      Leaf (a 2);
      Leaf (a 3);
      No;
    ];
  run "or, total" (fun () -> string (sum (Leaf (a 1)) + sum (Left (b 2, No))));
  run "deep" (fun () ->
      let left t = Left (a 0, t) in
      string (deep (left (left (left (left No)))) + deep (left (left No))));
  run "or, wide" (fun () ->
      let x = (lazy 0, 0) and y = (lazy 1, 1) and z = (lazy 0, 1) in
      wide (x, y, x, y, x, y, x, y, x, y, x, y)
      ^ wide (x, y, x, y, x, y, x, y, x, y, x, z));
  run "or, parameter" (fun () -> parameter (a 3));
  each "or, exception"
    (fun f ->
      match f () with
      | Some (lazy 0) | (exception Boom) -> "zero"
      | None | Some _ -> "other")
    [ (fun () -> raise Boom); (fun () -> Some (a 0)); (fun () -> Some (b 1)) ];
  run "or, let" (fun () ->
      let (Some (lazy x), _ | None, (lazy x)) =
        Sys.opaque_identity (None, a 3)
      in
      string x)

(* --- Names ---------------------------------------------------------------- *)

module Names = struct
  type t = None | Some

  let ( || ) _ _ = false
  let ( && ) _ _ = false

  let match_ = function
    | Some, (lazy (0 | 1)) | None, (lazy 2) -> "yes"
    | _ -> string_of_bool (true || (true && true))
end

module Hiding = struct
  [@@@warning "-27"]

  let first (lazy x) x = x
  let second x (lazy x) = x
end

let () =
  run "names" (fun () -> Names.(match_ (Some, a 0) ^ match_ (None, b 0)));
  run "parameters, hidden" (fun () ->
      let f (lazy w) x (y, z) = w + x + y + z and g (lazy _) x = x in
      string (f (a 1) 2 (3, 4) + g (b 1) 5));
  run "parameters, hiding" (fun () ->
      string (Hiding.first (a 1) 2 + Hiding.second 1 (a 2)))

(* --- let rec -------------------------------------------------------------- *)

let rec sum_of = lazy (1 + add 2)
and add l = l + 1

let rec factorial =
  lazy (fun n -> if n = 0 then 1 else n * Lazy.force factorial (n - 1))

let rec length : 'a. 'a list -> int = function
  | [] -> 0
  | _ :: l -> 1 + length l

and lengths = lazy (length [ 1 ] + length [ "a" ])

let rec known = lazy 3
and sum_of_known = lazy (Lazy.force known + Lazy.force known)

let () =
  run "rec, and a function" (fun () -> string (Lazy.force sum_of + add 1));
  run "rec, function in lazy" (fun () -> string (Lazy.force factorial 5));
  run "rec, polymorphic" (fun () -> string (Lazy.force lengths + length []));
  run "rec, constant" (fun () ->
      string_of_bool (Lazy.is_val known) ^ string (Lazy.force sum_of_known));
  run "rec, local function" (fun () ->
      let rec l = lazy (1 + f 2) and f l = l + 1 in
      string (Lazy.force l + f 1))
