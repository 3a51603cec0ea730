(* The meaning of [%lazy e] and let%lazy in ppx_concord. The rewriter's output is in
   expansion.expected, its errors are in errors.t. *)

open Concord

let check_int = Alcotest.(check int)
let check_bool = Alcotest.(check bool)
let force = Lazy.force

let raises_undefined what t =
  match force t with
  | _ -> Alcotest.failf "%s: has a value" what
  | exception Lazy.Undefined -> ()

(* Counts how often it is called. *)
let counted () =
  let count = ref 0 in
  let tick x =
    incr count;
    x
  in
  (count, tick)

(* --- Expressions ---------------------------------------------------------- *)

let test_once () =
  let count, tick = counted () in
  let t = [%lazy tick 1 + tick 2] in
  check_int "not before it is forced" 0 !count;
  check_int "value" 3 (force t);
  check_int "again" 3 (force t);
  check_int "once" 2 !count

let test_exception () =
  let count, tick = counted () in
  let t : int Lazy.t = [%lazy failwith (tick "a")] in
  let fails () =
    match force t with
    | _ -> Alcotest.fail "has a value"
    | exception Failure a -> Alcotest.(check string) "exception" "a" a
  in
  fails ();
  fails ();
  check_int "once" 1 !count

let test_values () =
  let is_val what t = check_bool what true (Lazy.is_val t) in
  is_val "literal" [%lazy 1];
  is_val "constructor" [%lazy []];
  is_val "function" [%lazy fun x -> x + 1];
  let count, tick = counted () in
  let t = [%lazy fun (type a) -> tick (List.length ([] : a list))] in
  check_int "under a type, not before it is forced" 0 !count;
  check_int "under a type" 0 (force t)

(* An instance variable is read when the value is forced. *)
let test_instance_variable () =
  let o =
    object
      val mutable v = 1
      method set = v <- 2
      method later = [%lazy v]
    end
  in
  let t = o#later in
  o#set;
  check_int "the later value" 2 (force t)

let test_lazy_of_let () =
  let count, tick = counted () in
  let t =
    [%lazy
      let x = tick 1 in
      x + 1]
  in
  check_int "not before it is forced" 0 !count;
  check_int "value" 2 (force t)

(* --- Bindings ------------------------------------------------------------- *)

let definitions, tick_definition = counted ()
let%lazy defined = tick_definition 1

let%lazy typed : int = tick_definition 2
and other = tick_definition 3

let test_definitions () =
  check_int "not before they are forced" 0 !definitions;
  check_int "value" 1 (force defined);
  check_int "typed" 2 (force typed);
  check_int "and" 3 (force other);
  check_int "value, again" 1 (force defined);
  check_int "once each" 3 !definitions

let test_local () =
  let count, tick = counted () in
  let x = 10 in
  let%lazy x = tick (x + 1) and y : int = tick (x + 2) in
  check_int "not before they are forced" 0 !count;
  check_int "and: the x before" 12 (force y);
  check_int "value" 11 (force x);
  check_int "once each" 2 !count

(* --- Recursion ------------------------------------------------------------ *)

type 'a stream = Cons of 'a * 'a stream Lazy.t

let rec take n (Cons (x, rest)) =
  if n = 0 then [] else x :: take (n - 1) (force rest)

let%lazy rec ones = Cons (1, ones)

let rec map2 f (Cons (x, xs)) (Cons (y, ys)) =
  Cons (f x y, [%lazy map2 f (force xs) (force ys)])

let%lazy rec fibonacci = Cons (0, rest)
and rest = Cons (1, sums)
and sums : int stream = map2 ( + ) (force fibonacci) (force rest)

let test_streams () =
  Alcotest.(check (list int)) "ones" [ 1; 1; 1 ] (take 3 (force ones));
  (match force ones with
  | Cons (_, rest) -> check_bool "is itself" true (rest == ones));
  Alcotest.(check (list int))
    "mutual"
    [ 0; 1; 1; 2; 3; 5; 8; 13 ]
    (take 8 (force fibonacci))

let test_functions () =
  let%lazy rec even = fun n -> n = 0 || force odd (n - 1)
  and odd : int -> bool = fun n -> n > 0 && force even (n - 1)
  and seven = 7 in
  check_bool "mentions none of them" true (Lazy.is_val seven);
  check_bool "even" false (force even (force seven));
  check_bool "odd" true (force odd (force seven))

type itself = Itself of itself Lazy.t

let test_rec_once () =
  let count, tick = counted () in
  let%lazy rec x = tick (Itself x) in
  check_int "not before it is forced" 0 !count;
  (match force x with Itself y -> check_bool "is itself" true (x == y));
  check_int "once" 1 !count

let%lazy rec own : int = force own + 1

let%lazy rec one : int = force two + 1
and two = force one + 1

let test_undefined () =
  raises_undefined "itself" own;
  raises_undefined "itself, again" own;
  raises_undefined "each other" one;
  raises_undefined "each other, again" two;
  let%lazy rec own : int = force own + 1 in
  raises_undefined "local" own

(* Several domains force the same stream. Each of its values is computed once. *)
let test_domains () =
  let computed = Atomic.make 0 and wrong = Atomic.make 0 in
  let%lazy rec x =
    Atomic.incr computed;
    Cons (0, y)
  and y =
    Atomic.incr computed;
    Cons (1, x)
  in
  let work () = if take 4 (force x) <> [ 0; 1; 0; 1 ] then Atomic.incr wrong in
  List.iter Domain.join (List.init 3 (fun _ -> Domain.spawn work));
  check_int "values" 0 (Atomic.get wrong);
  check_int "once each" 2 (Atomic.get computed)

(* --- Names ---------------------------------------------------------------- *)

module Ours = Lazy

(* Here every name that the expansions use means something else. *)
module Hidden = struct
  [@@@warning "-32-34-37-65"]

  module Concord = struct
    module Lazy = struct end
  end

  module Stdlib = struct end
  module Lazy = Concord.Lazy
  module CamlinternalLazy = struct end

  type nothing = ()
  type 'a lazy_t = Nothing of 'a

  let force = ()
  let knot = 5
  let%lazy x = knot

  type itself = Itself of itself Ours.t

  let%lazy rec y : itself = Itself y
end

let test_names () =
  check_int "value" 5 (force Hidden.x);
  match force Hidden.y with
  | Itself y -> check_bool "recursive" true (y == Hidden.y)

let () =
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "ppx_concord"
    [
      ( "expressions",
        [
          case "once" test_once;
          case "exception" test_exception;
          case "values" test_values;
          case "instance variable" test_instance_variable;
          case "lazy of let" test_lazy_of_let;
        ] );
      ( "bindings",
        [ case "definitions" test_definitions; case "local" test_local ] );
      ( "recursion",
        [
          case "streams" test_streams;
          case "functions" test_functions;
          case "once" test_rec_once;
          case "undefined" test_undefined;
          case "domains" test_domains;
        ] );
      ("names", [ case "hidden" test_names ]);
    ]
