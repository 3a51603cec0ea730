(* Continues lazy_programs.ml, with lazy values in constructors. *)

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
