(* Random operations of a reader, and of a writer, against a string. The source gives parts of any
   size, and sometimes raises, as if the task was cancelled there. Then the operation must have
   taken nothing, and is called again. *)

open Concord_buffered

exception Cancelled

(* --- Readers -------------------------------------------------------------------- *)

type operation =
  | Char
  | Take of int
  | Skip of int
  | Peek of int
  | Read of int
  | Line of int
  | Until of int * char
  | Take_while of int
  | Rest of int
  | At_end
  | Refill
  | Consume of int
  | Unconsume of int

let is_small c = c < 'c'

type outcome = String of string | Bool of bool | End | Long | Unit

let show_outcome = function
  | String s -> Printf.sprintf "%S" s
  | Bool b -> string_of_bool b
  | End -> "End_of_file"
  | Long -> "Too_long"
  | Unit -> "()"

let show_operation = function
  | Char -> "char"
  | Take n -> Printf.sprintf "take %d" n
  | Skip n -> Printf.sprintf "skip %d" n
  | Peek n -> Printf.sprintf "peek %d" n
  | Read n -> Printf.sprintf "read %d" n
  | Line max -> Printf.sprintf "line %d" max
  | Until (max, c) -> Printf.sprintf "until %d %C" max c
  | Take_while max -> Printf.sprintf "take_while %d" max
  | Rest max -> Printf.sprintf "rest %d" max
  | At_end -> "at_end"
  | Refill -> "refill"
  | Consume n -> Printf.sprintf "consume %d" n
  | Unconsume n -> Printf.sprintf "unconsume %d" n

(* The source's parts have these sizes, in turns. 0 stands for a cancellation. *)
let source text sizes =
  let pos = ref 0 and parts = ref sizes in
  fun b at len ->
    if len < 1 then failwith "the reader asks for nothing";
    let size =
      match !parts with
      | [] -> len
      | size :: rest ->
          parts := rest;
          size
    in
    if size = 0 then raise Cancelled;
    let n = Int.min len (Int.min size (String.length text - !pos)) in
    Bytes.blit_string text !pos b at n;
    pos := !pos + n;
    n

(* [left] is what the reader has not given yet. A cancelled operation is called again. *)
let rec insist f = try f () with Cancelled -> insist f

let perform reader operation =
  let string f = String (insist (fun () -> f reader)) in
  try
    match operation with
    | Char -> string (fun t -> String.make 1 (Reader.char t))
    | Take n -> string (fun t -> Reader.take t n)
    | Peek n -> string (fun t -> Reader.peek t n)
    | Line max -> string (Reader.line ~max)
    | Until (max, c) -> string (Reader.until ~max c)
    | Take_while max -> string (Reader.take_while ~max is_small)
    | Rest max -> string (Reader.rest ~max)
    | At_end -> Bool (insist (fun () -> Reader.at_end reader))
    | Skip n when n mod 2 = 0 ->
        let is_there = insist (fun () -> Reader.ensure reader n) in
        Reader.skip reader (if is_there then n else Reader.length reader);
        if is_there then Unit else End
    | Skip n ->
        (* If a longer one is cancelled, it has taken a part. *)
        for _ = 1 to n do
          insist (fun () -> Reader.skip reader 1)
        done;
        Unit
    | Read n ->
        let b = Bytes.create n in
        let got = insist (fun () -> Reader.read reader b 0 n) in
        String (Bytes.sub_string b 0 got)
    | Refill ->
        ignore (insist (fun () -> Reader.refill reader) : bool);
        Unit
    | Consume n ->
        let n = Int.min n (Reader.length reader) in
        let seen =
          Reader.view reader (fun b pos _ -> Bytes.sub_string b pos n)
        in
        Reader.consume reader n;
        String seen
    | Unconsume n -> Bool (Reader.unconsume reader n)
  with
  | End_of_file -> End
  | Reader.Too_long _ -> Long

let prefix left p =
  let rec go i =
    if i < String.length left && p left.[i] then go (i + 1) else i
  in
  go 0

(* What the operation should return, and how many bytes it takes. *)
let expected ~taken ~outcome left operation =
  let all = String.length left in
  let needs n =
    if n > all then (End, 0) else (String (String.sub left 0 n), n)
  in
  let through max c =
    let n = prefix left (( <> ) c) in
    if n > max then (Long, 0)
    else if n < all then (String (String.sub left 0 n), n + 1)
    else if n = 0 then (End, 0)
    else needs n
  in
  let limited max n = if n > max then (Long, 0) else needs n in
  match operation with
  | Char -> needs 1
  | Take n -> needs n
  | Skip n -> if n > all then (End, all) else (Unit, n)
  | Peek n -> (String (String.sub left 0 (Int.min n all)), 0)
  | Line max -> (
      match through max '\n' with
      | String s, n when String.ends_with ~suffix:"\r" s ->
          (String (String.sub s 0 (String.length s - 1)), n)
      | other -> other)
  | Until (max, c) -> through max c
  | Take_while max -> limited max (prefix left is_small)
  | Rest max -> limited max all
  | At_end -> (Bool (all = 0), 0)
  | Refill -> (Unit, 0)
  | Read _ | Consume _ -> (
      (* how many is the reader's choice, but it must be the next ones, and not none *)
      match (outcome, operation) with
      | String "", Read n when n > 0 && all > 0 -> (String "at least a byte", 0)
      | String s, _ when String.starts_with ~prefix:s left ->
          (outcome, String.length s)
      | _ -> (String "a part of the rest", 0))
  | Unconsume n -> (
      match outcome with
      | Bool true when n > taken -> (Bool false, 0)
      | outcome -> (outcome, if outcome = Bool true then -n else 0))

let agrees (text, size, sizes, operations) =
  let reader = Reader.create ~size (source text sizes) in
  let step taken operation =
    let left = String.sub text taken (String.length text - taken) in
    let outcome = perform reader operation in
    let right, n = expected ~taken ~outcome left operation in
    if outcome <> right then
      QCheck.Test.fail_reportf "%s: %s, but should be %s, of %S"
        (show_operation operation) (show_outcome outcome) (show_outcome right)
        left;
    taken + n
  in
  ignore (List.fold_left step 0 operations : int);
  true

let text =
  QCheck.Gen.(
    string_size ~gen:(map (String.get "abc\r\n") (int_bound 4)) (int_bound 60))

let operation =
  QCheck.Gen.(
    let n = int_bound 30 in
    oneof
      [
        return Char;
        map (fun n -> Take n) n;
        map (fun n -> Skip n) n;
        map (fun n -> Peek n) n;
        map (fun n -> Read n) n;
        map (fun n -> Line n) n;
        map2 (fun n c -> Until (n, c)) n (map (String.get "ac") (int_bound 1));
        map (fun n -> Take_while n) n;
        map (fun n -> Rest n) n;
        return At_end;
        return Refill;
        map (fun n -> Consume n) n;
        map (fun n -> Unconsume n) (int_bound 5);
      ])

let sizes = QCheck.Gen.(list_size (int_bound 20) (int_bound 12))

let scene =
  let print (text, size, sizes, operations) =
    Printf.sprintf "%S, size %d, parts [%s]: %s" text size
      (String.concat " " (List.map string_of_int sizes))
      (String.concat "; " (List.map show_operation operations))
  in
  QCheck.make ~print
    QCheck.Gen.(
      quad text (int_range 1 20) sizes (list_size (int_range 1 12) operation))

let readers = QCheck.Test.make ~count:5_000 scene agrees

(* --- Writers -------------------------------------------------------------------- *)

(* What was written, what is in the writer and what the reader has left are together the text, at
   each moment, even if a copy is cancelled. *)
let copies (text, size, sizes, writes) =
  let reader = Reader.create ~size (source text sizes) in
  let written = Buffer.create 60 and parts = ref writes in
  let write b pos len =
    let size =
      match !parts with
      | [] -> len
      | size :: rest ->
          parts := rest;
          size
    in
    if size = 0 then raise Cancelled;
    let n = Int.min len size in
    Buffer.add_subbytes written b pos n;
    n
  in
  let writer = Writer.create ~size:(1 + (size / 2)) write in
  let pending t = t (fun b pos len -> Bytes.sub_string b pos len) in
  let check () =
    let so_far =
      Buffer.contents written
      ^ pending (Writer.view writer)
      ^ pending (Reader.view reader)
    in
    if not (String.starts_with ~prefix:so_far text) then
      QCheck.Test.fail_reportf "of %S there is %S" text so_far
  in
  let rec insist f =
    match f () with
    | () -> ()
    | exception Cancelled ->
        check ();
        insist f
  in
  let half = String.length text / 2 in
  let left () = half - Buffer.length written - Writer.length writer in
  insist (fun () -> Writer.copy_exactly reader writer (left ()));
  if Buffer.length written + Writer.length writer <> half then
    QCheck.Test.fail_report "copy_exactly has copied another number of bytes";
  insist (fun () -> Writer.copy reader writer);
  insist (fun () -> Writer.flush writer);
  Buffer.contents written = text && Writer.length writer = 0

let copies_scene =
  QCheck.make
    ~print:QCheck.Print.(quad string int (list int) (list int))
    QCheck.Gen.(quad text (int_range 1 20) sizes sizes)

let copying = QCheck.Test.make ~count:3_000 copies_scene copies

let writes (parts, size) =
  let written = Buffer.create 60 in
  let write b pos len =
    Buffer.add_subbytes written b pos (Int.min len 3);
    Int.min len 3
  in
  let writer = Writer.create ~size write in
  List.iteri
    (fun i s ->
      match i mod 3 with
      | 0 -> Writer.string writer s
      | 1 -> String.iter (Writer.char writer) s
      | _ ->
          Writer.bytes writer
            (Bytes.of_string ("x" ^ s ^ "y"))
            1 (String.length s))
    parts;
  Writer.flush writer;
  Buffer.contents written = String.concat "" parts

let writing =
  QCheck.Test.make ~count:1_000
    (QCheck.make
       ~print:QCheck.Print.(pair (list string) int)
       QCheck.Gen.(pair (list_size (int_bound 8) text) (int_range 1 20)))
    writes

(* --- Examples ------------------------------------------------------------------- *)

(* A time limit cancels a task in the middle of a line. *)
let cancelled () =
  let open Concord in
  Concord_fifo.run @@ fun () ->
  let parts = Stream.create 3 in
  let read b pos len =
    match Stream.take parts with
    | part ->
        Bytes.blit_string part 0 b pos (Int.min len (String.length part));
        String.length part
    | exception Stream.Closed -> 0
  in
  let reader = Reader.create read in
  let line () = Reader.line ~max:100 reader in
  Stream.add parts "one\nt";
  Alcotest.(check string) "the first" "one" (line ());
  Alcotest.(check (option string))
    "in time" None
    (Tasks.with_timeout 0.001 line);
  Stream.add parts "wo\n";
  Alcotest.(check string) "the second" "two" (line ())

(* After STARTTLS, a reader over the reader gets what came with the line. *)
let stacked () =
  let below = Reader.of_string "STARTTLS\r\nsecret\nmore\n" in
  Alcotest.(check string) "the line" "STARTTLS" (Reader.line ~max:10 below);
  let rot b pos len =
    let n = Reader.read below b pos len in
    for i = pos to pos + n - 1 do
      Bytes.set b i (Char.uppercase_ascii (Bytes.get b i))
    done;
    n
  in
  let above = Reader.create rot in
  Alcotest.(check string) "above" "SECRET" (Reader.line ~max:10 above);
  Alcotest.(check string) "the rest" "MORE\n" (Reader.rest ~max:10 above)

(* The buffer of an idle connection is small, and a large part isn't copied through it. *)
let memory () =
  let asked = ref [] in
  let read b pos len =
    asked := len :: !asked;
    Bytes.fill b pos len 'x';
    len
  in
  let reader = Reader.create ~size:65536 read in
  Alcotest.(check string) "a byte" "x" (Reader.take reader 1);
  Reader.consume reader (Reader.length reader);
  let large = Bytes.create 100_000 in
  Alcotest.(check int)
    "a large part" 100_000
    (Reader.read reader large 0 100_000);
  Alcotest.(check (list int)) "the reads" [ 100_000; 4096 ] !asked;
  (match Reader.line ~max:1_000_000 reader with
  | (_ : string) -> Alcotest.fail "a line that never ends"
  | exception Reader.Too_long { max = 1_000_000; _ } -> ());
  let held = Reader.view reader (fun b _ _ -> Bytes.length b) in
  if held > 2_200_000 then Alcotest.failf "the buffer has %d bytes" held

let misuse () =
  let raises what f =
    match f () with
    | () -> Alcotest.failf "%s: nothing was raised" what
    | exception Invalid_argument _ -> ()
  in
  let reader = Reader.of_string "abc" in
  raises "consume" (fun () -> Reader.consume reader 1);
  raises "get" (fun () -> ignore (Reader.get reader 0));
  raises "take" (fun () -> ignore (Reader.take reader (-1)));
  raises "read" (fun () -> ignore (Reader.read reader (Bytes.create 2) 1 2));
  let writer = Writer.create (fun _ _ len -> len) in
  raises "substring" (fun () -> Writer.substring writer "abc" 2 2);
  raises "consume" (fun () -> Writer.consume writer 1)

let () =
  let property name test =
    let rand = Random.State.make [| Concord_test_support.Race.seed |] in
    let run () = QCheck.Test.check_exn ~rand test in
    Alcotest.test_case name `Quick run
  in
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "buffered"
    [
      ( "random",
        [
          property "a reader and a string" readers;
          property "copy" copying;
          property "a writer" writing;
        ] );
      ( "examples",
        [
          case "a line is cancelled" cancelled;
          case "a reader over a reader" stacked;
          case "memory" memory;
          case "misuse" misuse;
        ] );
    ]
