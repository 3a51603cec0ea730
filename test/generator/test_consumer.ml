open Concord
open Concord_generator
open Concord_test_support
open Check

(* Whole numbers between spaces; says what it has seen when it ends. *)
let numbers ?(say = ignore) read =
  Fun.protect ~finally:(fun () -> say "unwound") @@ fun () ->
  let rec skip found =
    match read () with
    | None -> List.rev found
    | Some ' ' -> skip found
    | Some c -> number found (value c)
  and number found n =
    match read () with
    | None -> List.rev (n :: found)
    | Some ' ' -> skip (n :: found)
    | Some c -> number found ((10 * n) + value c)
  and value c =
    match c with
    | '0' .. '9' -> Char.code c - Char.code '0'
    | c -> Printf.ksprintf failwith "%C is no digit" c
  in
  skip []

let push_all t text = String.iter (Consumer.push t) text

let parse () =
  let t = Consumer.create numbers in
  push_all t "12 3";
  Alcotest.(check (option (list int))) "in the middle" None (Consumer.result t);
  push_all t "4  5";
  Alcotest.(check (list int)) "all" [ 12; 34; 5 ] (Consumer.finish t);
  Alcotest.(check (list int)) "again" [ 12; 34; 5 ] (Consumer.finish t);
  push_all t "dropped";
  Alcotest.(check (option (list int)))
    "result"
    (Some [ 12; 34; 5 ])
    (Consumer.result t)

let nothing () =
  Alcotest.(check (list int))
    "no input" []
    (Consumer.finish (Consumer.create numbers))

(* It may end before its input does, also before it reads at all. *)
let ends_early () =
  let t = Consumer.create (fun read -> Option.get (read ())) in
  Consumer.push t 1;
  Alcotest.(check (option int)) "result" (Some 1) (Consumer.result t);
  Consumer.push t 2;
  int "finish" 1 (Consumer.finish t);
  let t = Consumer.create (fun _ -> 5) in
  Consumer.push t 'x';
  int "reads nothing" 5 (Consumer.finish t)

let many () =
  let consumers = List.init 100 (fun _ -> Consumer.create numbers) in
  String.iter
    (fun c -> List.iter (fun t -> Consumer.push t c) consumers)
    "1 2 3";
  List.iter
    (fun t ->
      Alcotest.(check (list int)) "each" [ 1; 2; 3 ] (Consumer.finish t))
    consumers

let failure () =
  traced [ "unwound" ] @@ fun say ->
  let t = Consumer.create (numbers ~say) in
  push_all t "1 ";
  raises "push" (Failure "'x' is no digit") (fun () -> Consumer.push t 'x');
  raises "finish" (Failure "'x' is no digit") (fun () -> Consumer.finish t);
  raises "result" (Failure "'x' is no digit") (fun () -> Consumer.result t)

let closed () =
  traced [ "unwound"; "closed" ] @@ fun say ->
  let t = Consumer.create (numbers ~say) in
  push_all t "12";
  Consumer.close t;
  say "closed";
  Consumer.close t;
  push_all t "dropped";
  raises "finish" Consumer.Closed (fun () -> Consumer.finish t);
  let t = Consumer.create (numbers ~say) in
  Consumer.close t;
  raises "not begun" Consumer.Closed (fun () -> Consumer.finish t)

(* It is closed again where it reads again. *)
let catches_closed () =
  let t =
    Consumer.create (fun read ->
        (try ignore (read () : int option) with Consumer.Closed -> ());
        ignore (read () : int option))
  in
  Consumer.push t 1;
  Consumer.close t;
  raises "finish" Consumer.Closed (fun () -> Consumer.finish t);
  let t =
    Consumer.create (fun read ->
        try ignore (read () : int option)
        with Consumer.Closed -> ignore (read () : int option))
  in
  Consumer.push t 1;
  Consumer.close t;
  Consumer.finish t

let two_domains () =
  let n = 10_000 and sum = ref 0 in
  let t =
    Consumer.create (fun read ->
        let rec go () =
          match read () with
          | None -> !sum
          | Some i ->
              sum := !sum + i;
              go ()
        in
        go ())
  in
  let work () =
    let rec push i =
      match Consumer.push t i with
      | () -> ()
      | exception Invalid_argument _ -> push i
    in
    for i = 1 to n do
      push i
    done
  in
  let join = domain work in
  work ();
  join ();
  int "each once" (n * (n + 1)) (Consumer.finish t)

let in_itself () =
  let t = ref (Consumer.create ignore) in
  t :=
    Consumer.create (fun read ->
        ignore (read () : int option);
        match Consumer.push !t 2 with
        | () -> Alcotest.fail "not refused"
        | exception Invalid_argument text ->
            yes text (contains text "is already running"));
  Consumer.push !t 1;
  Consumer.finish !t

let waits_inside () =
  let box = Mvar.create_empty () in
  Concord_fifo.run @@ fun () ->
  let t =
    Consumer.create (fun read ->
        let factor = Mvar.take box in
        factor * Option.get (read ()))
  in
  let pushed = Concord_fifo.fork_promise (fun () -> Consumer.push t 7) in
  Mvar.put box 6;
  Promise.await pushed;
  int "product" 42 (Consumer.finish t)

let on_another_domain () =
  let t = Consumer.create numbers in
  push_all t "1";
  in_domain (fun () -> push_all t "2 3");
  push_all t "4";
  Alcotest.(check (list int)) "all" [ 12; 34 ] (Consumer.finish t)

let printed_closed () =
  named "Consumer" "Concord_generator.Consumer.Closed" Consumer.Closed

let () =
  run "Consumers"
    [
      ( "consumer",
        [
          test "a parser" parse;
          test "no input" nothing;
          test "ends early" ends_early;
          test "many" many;
          test "failure" failure;
          test "close" closed;
          test "how Closed is printed" printed_closed;
          test "code that catches Closed" catches_closed;
          test "two domains at once" two_domains;
          test "push in itself" in_itself;
          test "waits inside" waits_inside;
          test "on another domain" on_another_domain;
        ] );
    ]
