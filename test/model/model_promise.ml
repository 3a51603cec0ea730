(* Promises. The scenarios below are those of functions that wait for promises, and of promises
   made of others, which the description doesn't have. *)

open Actor

exception Boom

let await name p =
  make name @@ fun () ->
  match Promise.await p with v -> string_of_int v | exception Boom -> "boom"

let fill name p v =
  make name @@ fun () ->
  match Promise.fill p v with
  | () -> "ok"
  | exception Promise.Already_filled -> "late"

let fail name p =
  make name (fun () -> if Promise.try_fail p Boom then "ok" else "late")

(* At rest, no task waits for a resolved promise. *)
let at_rest p =
  match Atomic.get p with
  | Promise.Waiting waiters -> ignore (live waiters : int)
  | Value _ | Failed _ ->
      if Promise.waiters p > 0 then failwith "they wait for what is resolved"

let outcome p =
  match Promise.peek p with
  | None -> "pending"
  | Some (Ok v) -> string_of_int v
  | Some (Error Boom) -> "boom"
  | Some (Error e) -> Printexc.to_string e

(* A process makes a promise of two sources, which are resolved meanwhile, or of one of them. *)
let check_made name ?(b = fill "b") ?(first = false) made expect =
  Model.check name ~expect @@ fun () ->
  let p = Promise.create () and q = Promise.create () in
  let result = ref None in
  let make () = result := Some (made p q) in
  if first then make ();
  let processes = [ Run (fill "a" p 1); Run (b q 2) ] in
  let processes = if first then processes else Do make :: processes in
  let processes, _ = start [] processes in
  let at_rest () =
    if Promise.waiters p + Promise.waiters q > 0 then
      failwith "a callback stays";
    outcome (Option.get !result)
  in
  (processes, at_rest)

let sum p q = Promise.map (fun (a, b) -> a + b) (Promise.both p q)
let sum_of_all p q = Promise.map (List.fold_left ( + ) 0) (Promise.all [ p; q ])
let any p q = Promise.first_filled [ p; q ]
let fail_second q _ = fail "b" q

let check_withdrawn () =
  Model.check "a function is withdrawn, and the promise filled, and awaited"
    ~expect:[ "called await=1"; "withdrawn await=1" ]
  @@ fun () ->
  let p = Promise.create () and called = ref 0 and withdrawn = ref false in
  let withdraw = Promise.on_resolve_cancellable p (fun _ -> incr called) in
  let a = await "await" p in
  let withdraw () = withdrawn := withdraw () in
  let processes, actors =
    start [ a ]
      [
        Do withdraw;
        Run
          (make "" (fun () ->
               Promise.fill p 1;
               ""));
      ]
  in
  let at_rest () =
    if Promise.waiters p > 0 then failwith "it stays";
    match (!called, !withdrawn) with
    | 1, false -> "called " ^ describe [ List.hd actors ]
    | 0, true -> "withdrawn " ^ describe [ List.hd actors ]
    | _ -> failwith "called and withdrawn, or neither"
  in
  (processes, at_rest)

let check_made_of_promises () =
  List.iter
    (fun first ->
      let check_made text ?b made expect =
        let text = if first then text else text ^ ", made meanwhile" in
        check_made text ~first ?b made expect
      in
      check_made "both" sum [ "3" ];
      (* If the promise is made meanwhile, there are 113,246 interleavings, which take 30 s. *)
      if first then check_made "all" sum_of_all [ "3" ];
      check_made "any" any [ "1"; "2" ];
      check_made "both, one fails" ~b:fail_second sum [ "boom" ];
      check_made "all, one fails" ~b:fail_second sum_of_all [ "boom" ];
      check_made "any, one fails" ~b:fail_second any [ "1" ])
    [ true; false ];
  check_made "both, of one" ~first:true (fun p _ -> sum p p) [ "2" ]

module Described_promise = Described.Make (Values.Of_promise)

let () =
  Described_promise.some ~at_rest 30;
  check_withdrawn ();
  check_made_of_promises ();
  Model.finish ()
