(* Programs with the keyword and the patterns [lazy]. They are compiled twice, once unchanged
   and once for Concord's lazy values. Each records what it forces, in which order, and its
   outcome, and test_lazy_programs.ml compares the records. *)

let trace = Buffer.create 100
let say s = Buffer.add_string trace s
let results : (string * string) list ref = ref []

exception Boom
exception Carried of int Lazy.t

let run name f =
  Buffer.clear trace;
  let outcome =
    match f () with
    | s -> s
    | exception Match_failure (file, _, _) -> "Match_failure " ^ file
    | exception Boom -> "Boom"
    | exception Carried _ -> "Carried"
    | exception e -> Printexc.to_string e
  in
  results := (name, Buffer.contents trace ^ "=" ^ outcome) :: !results

(* Records when it is computed. *)
let later name v =
  lazy
    (say name;
     v)

let ints = [ 0; 1; 2 ]
let bools = [ false; true ]
let options = [ None; Some 0; Some 1 ]

(* Calls [f] for all pairs, each time with new lazy values. *)
let pairs name f xs ys =
  List.iteri
    (fun i x ->
      List.iteri
        (fun j y -> run (Printf.sprintf "%s %d %d" name i j) (fun () -> f x y))
        ys)
    xs

let each name f xs =
  List.iteri (fun i x -> run (Printf.sprintf "%s %d" name i) (fun () -> f x)) xs

let a v = later "a" v
let b v = later "b" v

(* --- One value ------------------------------------------------------------ *)

let () =
  each "constants"
    (fun x ->
      match a x with
      | (lazy 0) -> "zero"
      | (lazy 1) -> "one"
      | (lazy _) -> "many")
    ints;
  each "wildcard" (fun x -> match a x with (lazy _) -> "any") ints;
  each "not forced" (fun x -> match a x with _ -> "any") ints;
  each "a variable first"
    (fun x ->
      match a x with
      | l when Lazy.is_val l -> "val"
      | (lazy n) -> string_of_int n)
    ints;
  each "a variable last"
    (fun x ->
      match a x with (lazy 1) -> "one" | l -> string_of_bool (Lazy.is_val l))
    ints;
  each "alias"
    (fun x ->
      match a x with
      | (lazy 1) as l -> string_of_bool (Lazy.is_val l)
      | (lazy n) as l -> string_of_int (n + Lazy.force l))
    ints;
  each "guard"
    (fun x ->
      match a x with
      | (lazy n)
        when say "g";
             n > 0 ->
          "positive"
      | (lazy n) -> string_of_int n)
    ints;
  each "guards fall through"
    (fun x ->
      match a x with
      | (lazy n)
        when say "g";
             n > 1 ->
          "two"
      | (lazy m)
        when say "h";
             m > 0 ->
          "one"
      | (lazy _) -> "zero")
    ints;
  each "or inside"
    (fun x -> match a x with (lazy (0 | 2)) -> "even" | (lazy _) -> "odd")
    ints;
  each "or outside"
    (fun x ->
      match a x with (lazy 0) | (lazy 2) -> "even" | (lazy _) -> "odd")
    ints;
  each "or with variables"
    (fun x ->
      match a x with
      | (lazy None) -> "none"
      | (lazy (Some 0 as y)) | (lazy y) -> string_of_bool (y = None))
    options;
  each "constraint"
    (fun x ->
      match a x with
      | ((lazy 0) : int Lazy.t) -> "zero"
      | ((lazy n) : _ Lazy.t) -> string_of_int n)
    ints;
  each "missing case"
    (fun x ->
      (match a x with (lazy 0) -> "zero" | (lazy 1) -> "one") [@warning "-8"])
    ints;
  each "lazy in lazy"
    (fun x ->
      match later "outer" (a x) with
      | (lazy (lazy 0)) -> "zero"
      | (lazy (lazy 1)) -> "one"
      | (lazy l) -> string_of_bool (Lazy.is_val l))
    ints;
  each "lazy in lazy, not forced"
    (fun x ->
      match later "outer" (a x) with
      | (lazy l) -> string_of_bool (Lazy.is_val l))
    ints;
  each "function"
    (function (lazy 0) -> "zero" | (lazy n) -> string_of_int n)
    (List.map a ints);
  run "it raises" (fun () ->
      match
        lazy
          (say "x";
           raise Boom)
      with
      | (lazy ()) -> "unit");
  run "it raises, again" (fun () ->
      let l =
        lazy
          (say "x";
           raise Boom)
      in
      (try match l with (lazy ()) -> () with Boom -> say "caught");
      match l with (lazy ()) -> "unit");
  run "the exception of a match is not that of its forcing" (fun () ->
      try
        match lazy (raise Boom) with
        | (lazy ()) -> "unit"
        | exception Boom -> "inside"
      with Boom -> "outside");
  run "the exception of the scrutinee" (fun () ->
      match (raise Boom : int Lazy.t) with
      | (lazy 0) -> "zero"
      | exception Boom -> "inside"
      | (lazy _) -> "any")
