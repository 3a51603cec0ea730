(* Programs with the keyword and the patterns [lazy], which are compiled twice: as they are,
   and for Concord's lazy values. Each says what it forces, in which order, and its
   outcome; test_lazy_programs.ml compares. *)

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

(* Says when it is computed. *)
let later name v =
  lazy
    (say name;
     v)

let ints = [ 0; 1; 2 ]
let bools = [ false; true ]
let options = [ None; Some 0; Some 1 ]

(* [f] on all pairs; each lazy value is a new one. *)
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

(* --- In constructors ------------------------------------------------------ *)

type 'a stream = Cons of 'a * 'a stream Lazy.t
type 'a seq = Nil | Node of 'a * 'a seq Lazy.t
type r = { x : int Lazy.t; y : int Lazy.t; z : int }

let rec seq name = function
  | [] -> Nil
  | x :: xs ->
      Node
        ( x,
          lazy
            (say (name ^ string_of_int x);
             seq name xs) )

let rec take n (Cons (x, (lazy rest))) =
  if n = 0 then [] else x :: take (n - 1) rest

let rec from n =
  Cons
    ( n,
      lazy
        (say (string_of_int n);
         from (n + 1)) )

let string_of_ints xs = String.concat "," (List.map string_of_int xs)
let seqs = List.map (seq "s") [ []; [ 1 ]; [ 1; 2 ]; [ 2; 1; 3 ] ]

let () =
  run "streams" (fun () -> string_of_ints (take 3 (from 5)));
  each "sequences"
    (fun s ->
      match s with
      | Node (x, (lazy Nil)) -> "one " ^ string_of_int x
      | Node (x, (lazy (Node (y, _)))) -> "more " ^ string_of_ints [ x; y ]
      | Nil -> "nil")
    (List.map (seq "s") [ []; [ 1 ]; [ 1; 2 ]; [ 2; 1; 3 ] ]);
  each "sequences, deeper"
    (fun s ->
      match s with
      | Node (_, (lazy (Node (_, (lazy (Node (z, _))))))) ->
          "three " ^ string_of_int z
      | Node (1, (lazy _)) -> "begins with one"
      | Node (_, rest) -> string_of_bool (Lazy.is_val rest)
      | Nil -> "nil")
    (List.map (seq "s") [ []; [ 1 ]; [ 1; 2 ]; [ 2; 1; 3 ]; [ 2 ]; [ 2; 3 ] ]);
  each "single constructor"
    (fun s ->
      match s with
      | Cons (_, (lazy (Cons (1, _)))) -> "one"
      | Cons (_, (lazy (Cons (n, _)))) -> string_of_int n)
    [ from 0; from 1 ];
  pairs "tuples"
    (fun x y ->
      match (a x, b y) with
      | (lazy 0), (lazy 0) -> "00"
      | (lazy 1), (lazy 1) -> "11"
      | _ -> "other")
    ints ints;
  pairs "a test before"
    (fun x y ->
      match (x, b y) with
      | 0, (lazy 0) -> "00"
      | 1, (lazy n) -> string_of_int n
      | _, _ -> "other")
    ints ints;
  pairs "a test after"
    (fun x y ->
      match (a x, y) with
      | (lazy 0), true -> "0t"
      | (lazy 1), _ -> "1"
      | _, _ -> "other")
    ints bools;
  pairs "a test between"
    (fun x y ->
      match (a x, y, b x) with
      | (lazy 0), true, (lazy 0) -> "0"
      | (lazy 1), _, (lazy 1) -> "1"
      | _ -> "other")
    ints bools;
  pairs "guards"
    (fun x y ->
      match (a x, b y) with
      | (lazy 0), (lazy n)
        when say "g";
             n > 0 ->
          "g"
      | (lazy m), _
        when say "h";
             m > 1 ->
          "h"
      | (lazy m), (lazy n) -> string_of_int (m + n))
    ints ints;
  pairs "or, some lazy"
    (fun x y ->
      match (x, b y) with 0, _ | _, (lazy 0) -> "zero" | _ -> "other")
    ints ints;
  pairs "or of lazies"
    (fun x y ->
      match (a x, b y) with
      | (lazy 0), _ | _, (lazy 0) -> "zero"
      | (lazy m), (lazy n) -> string_of_int (m + n))
    ints ints;
  pairs "variables of or"
    (fun x y ->
      match (a x, b y) with
      | (lazy 0), n | n, (lazy 0) -> string_of_bool (Lazy.is_val n)
      | _ -> "other")
    ints ints;
  pairs "records"
    (fun x y ->
      match { x = a x; y = b y; z = x } with
      | { x = (lazy 0); y = (lazy n); _ } -> string_of_int n
      | { z = 1; _ } -> "z"
      | { x = _; y = (lazy 1); _ } -> "y"
      | _ -> "other")
    ints ints;
  pairs "options"
    (fun x y ->
      match (x, Some (a y)) with
      | Some _, Some (lazy 0) -> "0"
      | None, Some (lazy n) -> string_of_int n
      | _, _ -> "other")
    options ints;
  pairs "polymorphic variants"
    (fun x y ->
      match (`A (a x), `B (b y)) with
      | `A (lazy 0), `B (lazy 0) -> "0"
      | `A _, `B (lazy 1) -> "1"
      | `A (lazy n), `B _ -> string_of_int n)
    ints ints;
  pairs "arrays"
    (fun x y ->
      match [| a x; b y |] with
      | [| (lazy 0); (lazy 0) |] -> "0"
      | [| _ |] -> "short"
      | [| (lazy m); (lazy n) |] -> string_of_int (m + n)
      | _ -> "other")
    ints ints;
  pairs "aliases inside"
    (fun x y ->
      match (a x, b y) with
      | (((lazy 0) as l), _) as p ->
          string_of_bool (Lazy.is_val l && Lazy.is_val (snd p))
      | _, ((lazy n) as l) -> string_of_bool (Lazy.is_val l && n > 0))
    ints ints;
  pairs "lists"
    (fun x y ->
      match [ a x; b y ] with
      | [ (lazy 0); _ ] -> "0"
      | [ _; (lazy 1) ] -> "1"
      | (lazy n) :: _ -> string_of_int n
      | [] -> "nil")
    ints ints;
  pairs "strings to the right"
    (fun x y ->
      match (a x, string_of_int y) with
      | (lazy 0), "0" -> "zero"
      | (lazy _), "1" -> "one"
      | _, s -> s)
    ints ints;
  pairs "missing case, inside"
    (fun x y ->
      (match (x, b y) with
      | 0, (lazy 0) -> "0"
      | 1, (lazy 1) -> "1")
      [@warning "-8"])
    ints ints

module M = struct
  type t = A of int Lazy.t | B
end

let () =
  each "opened"
    (fun v ->
      match v with
      | M.(A (lazy 0)) -> "0"
      | M.A (lazy n) -> string_of_int n
      | M.B -> "b")
    [ M.B; M.A (a 0); M.A (a 1) ];
  each "opened inside"
    (fun v ->
      match later "x" v with
      | M.((lazy (A (lazy 0)))) -> "0"
      | (lazy M.B) -> "b"
      | (lazy _) -> "other")
    [ M.B; M.A (a 0); M.A (a 1) ]

(* --- try ------------------------------------------------------------------ *)

let () =
  each "handlers"
    (fun n ->
      try raise (Carried (a n)) with
      | Carried (lazy 0) -> "zero"
      | Carried (lazy 1) -> "one")
    ints;
  each "handlers and others"
    (fun n ->
      try raise (Carried (a n)) with
      | Carried (lazy 0) -> "zero"
      | Boom -> "boom"
      | Carried l -> string_of_bool (Lazy.is_val l))
    ints;
  run "not this handler" (fun () ->
      try raise Boom with Carried (lazy 0) -> "zero");
  each "exceptions of a match"
    (fun n ->
      match raise (Carried (a n)) with
      | () -> "unit"
      | exception Carried (lazy 0) -> "zero"
      | exception Carried (lazy n) when n > 1 -> "two"
      | exception Carried _ -> "other")
    ints

(* --- let, fun ------------------------------------------------------------- *)

let (lazy top) =
  lazy
    (say "never said";
     3)

let (first, (lazy second)), (lazy third) = ((1, lazy 2), lazy 3)

let () =
  run "definitions" (fun () -> string_of_ints [ top; first; second; third ]);
  run "let" (fun () ->
      let (lazy x) = a 4 in
      string_of_int x);
  run "let, inside" (fun () ->
      let (x, (lazy y)), (lazy z) = Sys.opaque_identity ((1, a 2), b 3) in
      string_of_ints [ x; y; z ]);
  run "let and" (fun () ->
      let (lazy x) =
        say "1";
        a 4
      and y, (lazy z) =
        say "2";
        (1, b 2)
      and w =
        say "3";
        5
      in
      string_of_ints [ x; y; z; w ]);
  run "let, shadowing" (fun () ->
      let x = 1 in
      let (lazy x) = a (x + 1) and y = x in
      string_of_ints [ x; y ]);
  each "let, refutable"
    (fun o ->
      let[@warning "-8"] (lazy (Some n)) = a o in
      string_of_int n)
    options;
  run "let, typed" (fun () ->
      let ((lazy x) : int Lazy.t) = a 4 in
      let (lazy y) = (b 5 : int Lazy.t) in
      string_of_ints [ x; y ]);
  run "let, wildcard" (fun () ->
      let (lazy _) = a 4 in
      "any");
  run "parameters" (fun () ->
      let f (lazy x) ~l:(lazy y) ?o:(lazy z = b 6) () =
        string_of_ints [ x; y; z ]
      in
      let g = f (a 1) in
      say "partial";
      g ~l:(later "l" 2) ());
  run "parameters and cases" (fun () ->
      let f (lazy x) = function (lazy 0) -> x | (lazy n) -> x + n in
      let g = f (a 1) in
      say "partial";
      string_of_ints [ g (b 0); f (a 2) (b 3) ]);
  run "parameters and plain cases" (fun () ->
      let f (lazy x) = function 0 -> x | n -> x + n in
      string_of_ints [ f (a 1) 0; f (a 2) 3 ]);
  each "parameters, refutable"
    (fun o ->
      let[@warning "-8"] f (lazy x) (Some y) = x + y in
      string_of_int (f (a 1) o))
    options;
  run "fun" (fun () ->
      string_of_ints (List.map (fun (lazy x) -> x) [ a 1; b 2 ]));
  run "let op" (fun () ->
      let ( let* ) x f = f x and ( and* ) x y = (x, y) in
      let* lazy x = a 1 and* y, (lazy z) = (2, b 3) in
      string_of_ints [ x; y; z ]);
  run "methods" (fun () ->
      let o =
        object
          method m (lazy x) = x + 1
        end
      in
      string_of_int (o#m (a 1)))

(* --- lazy e --------------------------------------------------------------- *)

let is_val l = string_of_bool (Lazy.is_val l)

let () =
  run "constant" (fun () -> is_val (lazy 1));
  run "constructor" (fun () -> is_val (lazy None));
  run "abstraction" (fun () -> is_val (lazy (fun x -> x + 1)));
  run "variable" (fun () ->
      let x = Sys.opaque_identity 4 in
      is_val (lazy x));
  run "name of a module" (fun () -> is_val (lazy Sys.max_array_length));
  run "computation" (fun () ->
      let l =
        lazy
          (say "x";
           1)
      in
      is_val l ^ string_of_int (Lazy.force l + Lazy.force l));
  run "instance variable" (fun () ->
      let o =
        object
          val mutable v = 1
          method set = v <- 2
          method l = lazy v
        end
      in
      let l = o#l in
      o#set;
      string_of_int (Lazy.force l))

let rec ones = Cons (1, lazy ones)

let rec evens = lazy (Cons (0, odds))
and odds = lazy (Cons (1, evens))

let rec count n = Cons (n, lazy (count (n + 1)))

let rec selfish =
  lazy
    (say "s";
     Lazy.force selfish + 1)

let rec f x = if x = 0 then Lazy.force zero else f (x - 1)

and zero =
  lazy
    (say "z";
     7)

let () =
  run "rec" (fun () -> string_of_ints (take 3 ones));
  run "rec, itself" (fun () ->
      match ones with
      | Cons (_, rest) -> string_of_bool (Lazy.force rest == ones));
  run "rec, two" (fun () -> string_of_ints (take 3 (Lazy.force evens)));
  run "rec, function" (fun () -> string_of_ints (take 3 (count 4)));
  run "rec, undefined" (fun () ->
      match Lazy.force selfish with
      | n -> string_of_int n
      | exception Lazy.Undefined -> "undefined");
  run "rec, mixed" (fun () -> string_of_ints [ f 2; f 0 ]);
  run "rec, local" (fun () ->
      let rec l = lazy (Cons (2, l)) in
      string_of_ints (take 2 (Lazy.force l)));
  run "rec, several in one" (fun () ->
      let rec node =
        ( lazy
            (say "l";
             Cons (1, snd node)),
          lazy
            (say "r";
             Cons (2, fst node)) )
      in
      string_of_ints (take 3 (Lazy.force (fst node))))

let results = List.rev !results
