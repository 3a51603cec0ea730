(* What the claims have in common: a service for each case, and what its clients expect. *)

open Lwt.Syntax

let check_int = Alcotest.(check int)

(* A job of this size takes far longer than a test. *)
let endless = 1_000_000_000_000

let end_of child ~grace =
  Child.terminate child;
  Child.await_end child ~within:(grace +. 20.)

let with_service ?database ?program options f =
  let grace = 20. in
  let child =
    Child.start ?database ?program (Printf.sprintf "--grace=%g" grace :: options)
  in
  Lwt_main.run
    (let* () = f child (Child.port child) in
     let+ ended = end_of child ~grace in
     Alcotest.(check bool) "drained" true ended.drained;
     Alcotest.(check (list string)) "complaints" [] ended.complaints)

let answer what = function
  | Some (answer : Client.answer) -> answer
  | None -> Alcotest.failf "%s: no answer" what

let expect what status body got =
  let got = answer what got in
  Alcotest.(check (pair int string)) what (status, body) (got.status, got.body)

let metric port name =
  let+ got = Client.get port "/metrics" in
  List.assoc name (Child.metrics (answer "metrics" got).body)

let await_metric port name value =
  Cases.poll (Printf.sprintf "%s = %d" name value) (fun () ->
      Lwt.map (( = ) value) (metric port name))

let post port n =
  let+ got = Client.post port n in
  let got = answer "POST" got in
  check_int "POST" 202 got.status;
  int_of_string got.body

let await_job port id body =
  let path = Printf.sprintf "/jobs/%d?wait=30" id in
  let+ got = Client.get port path in
  expect path 200 body got

let refused = "Too many jobs. Try again later."
