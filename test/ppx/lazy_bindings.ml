(* Continues lazy_constructors.ml, with lazy values in other expressions. *)

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
