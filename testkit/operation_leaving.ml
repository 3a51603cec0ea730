(* Waiting tasks are cancelled, and withdraw. *)

open Operation_signature
open Operation_scene
open Operation_outcome
module Hand = Operation_hand

(* --- S2 ------------------------------------------------------------------------- *)

let refusals_are_possible s =
  only_if (s.service <> Meets) "a party that leaves keeps the others waiting"

(* The task is cancelled, but it has not withdrawn yet when the release comes. *)
let refuses ~settled k s =
  refusals_are_possible s;
  let waiters = start_many s 3 in
  let cancelled = List.nth waiters k in
  cancel cancelled;
  let_go ~settled s 2;
  left cancelled;
  served s (but_for k waiters)

let all_refuse s =
  refusals_are_possible s;
  let waiters = start_many s 3 in
  List.iter cancel waiters;
  release_by_hand s;
  settle s;
  List.iter left waiters;
  served s []

(* --- S3 ------------------------------------------------------------------------- *)

let leaves ~by k s =
  let waiters = start_many s 3 in
  let cancelled = List.nth waiters k in
  cancel ~by cancelled;
  settle s;
  raised by cancelled;
  let_go s 2;
  served s (but_for k waiters)

let all_leave s =
  let waiters = start_many s 3 in
  let leave w =
    cancel w;
    settle s;
    raised Hand.Cancelled w
  in
  List.iter leave waiters;
  if s.keeps then release_by_hand s;
  settle s;
  served s []

let cancelled_before_block s =
  let cancelled = start ~cancelled:`Before_block s in
  settle s;
  raised Hand.Cancelled cancelled;
  let w = start s in
  let_go s 1;
  served s [ w ]

(* The host calls [block] although it has already cancelled the task. *)
let cancelled_at_block s =
  refusals_are_possible s;
  let first = start ~cancelled:`At_block s in
  let second = start s in
  let_go s 1;
  left first;
  served s [ second ]

let refusing =
  each_of_three "the %s of three tasks refuses" (refuses ~settled:true)
  @ each_of_three "the %s of three tasks refuses, all released at once"
      (refuses ~settled:false)
  @ [
      ("all tasks refuse", all_refuse);
      ("cancelled at block", cancelled_at_block);
    ]

let raising =
  each_of_three "the %s of three tasks is cancelled" (leaves ~by:Hand.Cancelled)
  @ each_of_three "the %s of three tasks is interrupted"
      (leaves ~by:Hand.Interrupt)
  @ [
      ("all tasks are cancelled", all_leave);
      ("cancelled before block", cancelled_before_block);
    ]
