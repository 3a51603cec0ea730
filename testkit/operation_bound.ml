open Operation_scene
open Operation_outcome
module Hand = Operation_hand

let gives s =
  only_if (s.service = Operation_signature.Gives) "nobody waits to give"

let cancelled ~settled s =
  gives s;
  let waiters = start_many s 3 in
  List.iter
    (fun w ->
      cancel w;
      if settled then settle s)
    waiters;
  (* Those who have not left yet refuse. *)
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

(* As many releases as it takes to find the structure empty, and more: they wait, and are
   cancelled, or find nothing. *)
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
    ("waits refuse", cancelled ~settled:false);
    ("resumed, then cancelled", resumed_then_cancelled);
    ("some go on, and some are cancelled", served_by_turns);
    ("releases in vain", releases_in_vain);
  ]
