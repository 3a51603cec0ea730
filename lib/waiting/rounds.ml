open Choice

type 'a t = {
  in_turn : 'a alternative array;
  permuted : 'a alternative array;
  mutable next : int;
}

let make ~next alternatives =
  { in_turn = alternatives; permuted = Array.copy alternatives; next }

let next rounds = rounds.next

let rec attempt_in_turn rounds i left =
  if left = 0 then None
  else
    let after = if i + 1 = Array.length rounds.in_turn then 0 else i + 1 in
    match attempt rounds.in_turn.(i) with
    | None -> attempt_in_turn rounds after (left - 1)
    | chosen ->
        rounds.next <- after;
        chosen

(* Two choices may start again because of each other. They try in random orders, as other
   choices do (see [Choice.decide]). *)
let rec perform rounds =
  let n = Array.length rounds.in_turn in
  let first = if rounds.next < n then rounds.next else 0 in
  match attempt_in_turn rounds first n with
  | Some chosen -> chosen
  | None ->
      let chosen = wait_for_any ~in_order:rounds.in_turn rounds.permuted in
      if is_confirmed chosen then chosen else perform rounds
