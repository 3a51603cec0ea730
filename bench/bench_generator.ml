open Case
open Concord_generator

(* The greatest depth of a tree. With few elements to visit the tree is flatter. *)
let depth = 25

let rec depth_of elements =
  if elements < 2 then 1 else 1 + depth_of (elements / 2)

(* [visit tree] has to be the sum of the tree's values. A value is the height of its node, and
   each level has half as many nodes as the level below. *)
let rec sum_of height =
  if height = 0 then 0 else height + (2 * sum_of (height - 1))

let visits visit n =
  let height = Int.min depth (depth_of n) in
  let tree = Tree.make height and expected = sum_of height in
  let elements = (1 lsl height) - 1 in
  let times = (n + elements - 1) / elements in
  let start = Meter.now () in
  for _ = 1 to times do
    Host.check "sum" expected (visit tree)
  done;
  Meter.ns_since start /. float (times * elements) *. float n

let row ~impl ~host visit = row ~case:"tree" ~impl ~host (Time (visits visit))

let by_iteration tree =
  let sum = ref 0 in
  Tree.iter (fun v -> sum := !sum + v) tree;
  !sum

let drain next =
  let rec go sum = match next () with None -> sum | Some v -> go (sum + v) in
  go 0

(* Written by hand, with a list of the subtrees that remain to be visited. *)
let by_hand tree =
  let rest = ref [] in
  let rec push = function
    | Tree.Leaf -> ()
    | Node (left, v, right) ->
        rest := (v, right) :: !rest;
        push left
  in
  push tree;
  drain (fun () ->
      match !rest with
      | [] -> None
      | (v, right) :: others ->
          rest := others;
          push right;
          Some v)

let by_seq tree =
  let rec to_seq tree () =
    match tree with
    | Tree.Leaf -> Seq.Nil
    | Node (left, v, right) ->
        Seq.append (to_seq left) (Seq.cons v (to_seq right)) ()
  in
  Seq.fold_left ( + ) 0 (to_seq tree)

(* As fast as possible: the rest of the traversal is passed as an argument. *)
let by_seq_by_hand tree =
  let rec to_seq tree rest () =
    match tree with
    | Tree.Leaf -> rest ()
    | Node (left, v, right) ->
        to_seq left (fun () -> Seq.Cons (v, to_seq right rest)) ()
  in
  Seq.fold_left ( + ) 0 (to_seq tree Seq.empty)

let by_effects tree = drain (Tree.gen tree)

let by_effects_ahead tree =
  let generator =
    Generator.of_iter ~ahead:64 (fun yield -> Tree.iter yield tree)
  in
  drain (fun () -> Generator.next generator)

let tree =
  {
    title =
      Printf.sprintf "one element of a complete binary tree of depth %d" depth;
    baseline = row ~impl:"stdlib" ~host:"iterator" by_iteration;
    others =
      [
        row ~impl:"stdlib" ~host:"hand-written" by_hand;
        row ~impl:"stdlib" ~host:"seq" by_seq;
        row ~impl:"stdlib" ~host:"seq-hand-written" by_seq_by_hand;
        row ~impl:"concord" ~host:"effects" by_effects;
        row ~impl:"concord" ~host:"effects-ahead" by_effects_ahead;
        node "tree" ~host:"iterator";
        node "tree" ~host:"generator";
      ];
  }

let group =
  {
    name = "generator";
    doc = "generators of a tree against plain iteration, Seq and Node.js";
    comparisons = beside [ tree ];
  }
