(* Prints functions by cases with random patterns, and calls of each. The same seed prints the
   same programs. *)

let state = Random.State.make [| int_of_string Sys.argv.(1) |]
let int n = Random.State.int state n
let sprintf = Printf.sprintf

(* type t = A | B of int | C of t * t | L of t Lazy.t | P of t Lazy.t * t Lazy.t *)
let rec pattern depth =
  let p () = pattern (depth - 1) in
  match int (if depth = 0 then 4 else 12) with
  | 0 -> "_"
  | 1 | 2 -> "A"
  | 3 -> sprintf "B %d" (int 2)
  | 4 | 5 ->
      let left = p () in
      sprintf "C (%s, %s)" left (p ())
  | 6 | 7 -> sprintf "L (lazy (%s))" (p ())
  | 8 | 9 ->
      let left = p () in
      sprintf "P (lazy (%s), lazy (%s))" left (p ())
  | 10 ->
      let left = p () in
      sprintf "P (lazy (%s), _)" left
  | _ ->
      let left = p () in
      sprintf "(%s | %s)" left (p ())

(* The pattern must not match everything, because the compiler (5.4) fails on some or-patterns
   with a guard after it. *)
let rec some_pattern depth =
  match pattern depth with "_" -> some_pattern depth | p -> p

let case n =
  let depth = 1 + int 3 in
  let p =
    match int 4 with
    | 0 ->
        let left = some_pattern depth in
        sprintf "(%s, %s)" left (some_pattern (depth - 1))
    | 1 -> sprintf "((%s as x), _)" (some_pattern depth)
    | 2 ->
        let left = some_pattern depth in
        sprintf "((%s as x), _ | _, (%s as x))" left (some_pattern (depth - 1))
    | _ -> sprintf "(_, %s)" (some_pattern depth)
  in
  let guard =
    if int 4 = 0 then sprintf " when guard %d %b" n (int 2 = 0) else ""
  in
  let result =
    if String.contains p 'x' then sprintf "(say (seen x); %d)" n
    else string_of_int n
  in
  sprintf "  | %s%s -> %s\n" p guard result

let () =
  print_string
    {|type t = A | B of int | C of t * t | L of t Lazy.t | P of t Lazy.t * t Lazy.t
let trace = Buffer.create 100
let say s = Buffer.add_string trace s
let guard n b = say (Printf.sprintf "?%d" n); b
let seen = function
  | L l -> string_of_bool (Lazy.is_val l)
  | P (l, m) -> string_of_bool (Lazy.is_val l) ^ string_of_bool (Lazy.is_val m)
  | A | B _ | C _ -> "-"
let later name v = lazy (say name; v)
let rec value names depth n =
  let sub c m = value (names ^ c) (depth - 1) m in
  if depth = 0 then (if n mod 3 = 0 then A else B (n mod 3 - 1))
  else match n mod 6 with
  | 0 -> A
  | 1 -> B (n / 6 mod 2)
  | 2 -> C (sub "l" (n / 6), sub "r" (n / 7))
  | 3 | 4 -> L (later names (sub "f" (n / 6)))
  | _ -> P (later (names ^ "<") (sub "l" (n / 6)), later (names ^ ">") (sub "r" (n / 11)))
|};
  let functions = 150 in
  for i = 0 to functions - 1 do
    Printf.printf "let f%d v = match v with\n" i;
    for n = 1 to 2 + int 4 do
      print_string (case n)
    done
  done;
  print_string "let all = [";
  for i = 0 to functions - 1 do
    Printf.printf "f%d; " i
  done;
  print_string
    {|]
let results =
  let run i f n =
    Buffer.clear trace;
    let v = (value " a" 3 n, value " b" 3 (n * 31)) in
    let outcome = match f v with n -> string_of_int n | exception Match_failure _ -> "none" in
    (Printf.sprintf "f%d %d" i n, (Buffer.contents trace, outcome))
  in
  List.concat (List.mapi (fun i f -> List.init 300 (run i f)) all)
|}
