open Operation_scene
open Operation_outcome
module Hand = Operation_hand

let gives s =
  only_if
    (s.service = Operation_signature.Gives)
    "no task waits to give a value"

let cancelled ~settled s =
  gives s;
  let waiters = start_many s 3 in
  List.iter
    (fun w ->
      cancel w;
      if settled then settle s)
    waiters;
  (* If the waiters have not withdrawn yet, their resumers return false. *)
  release_by_hand s;
  settle s;
  List.iter left waiters;
  bounded s

let resumed_then_cancelled s =
  gives s;
  let waiters = start_many s 3 in
  List.iter (fun _ -> release_by_hand s) waiters;
  List.iter (fun w -> ignore (Hand.cancel w.task : bool)) waiters;
  settle s;
  bounded s

let served_by_turns s =
  gives s;
  for _ = 1 to 3 do
    let waiters = start_many s 3 in
    let second = List.nth waiters 1 in
    cancel second;
    let_go s 2;
    List.iter returned (but_for 1 waiters)
  done;
  bounded s

(* There are more releases than the structure has values. The releases that find nothing
   return, or wait and are cancelled. *)
let releases_in_vain s =
  gives s;
  for _ = 1 to 3 do
    bounded s;
    for _ = 1 to 5 do
      release_by_hand s;
      settle s
    done
  done;
  bounded s

let cases =
  [
    ("waits are cancelled", cancelled ~settled:true);
    ("waiters are cancelled, and refuse a release", cancelled ~settled:false);
    ("resumed, then cancelled", resumed_then_cancelled);
    ("some tasks continue, and some are cancelled", served_by_turns);
    ("more releases than values", releases_in_vain);
  ]
