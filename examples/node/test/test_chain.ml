(* Tests what happens to the transactions of a branch that the chain leaves, in a plain
   thread. *)

open Concord
open Ledger

let difficulty = 1
let create () = Chain.create ~difficulty

let block parent transactions =
  Block.search ~continue:ignore ~difficulty ~parent transactions

let add chain block =
  Block.check ~difficulty block;
  Chain.add chain block

let check_head chain (block : Block.t) =
  Alcotest.(check string) "head" block.hash (Watch.get (Chain.head chain)).hash

let check_pending chain expected =
  Alcotest.(check (list string))
    "pending" expected
    (Chain.Transactions.elements (Watch.get (Chain.pending chain)))

let check_confirmed chain expected =
  Alcotest.(check (list string))
    "confirmed" expected
    (Chain.matching chain (fun _ -> true));
  let is_confirmed text = Chain.confirmed chain text <> None in
  Alcotest.(check bool) "index" true (List.for_all is_confirmed expected)

let added = Alcotest.testable (fun _ _ -> ()) ( = )

let check_added chain expected block =
  Alcotest.check added "added" expected (add chain block)

let grows () =
  let chain = create () in
  List.iter (Chain.submit chain) [ "a"; "b"; "a" ];
  check_pending chain [ "a"; "b" ];
  let one = block Block.genesis [ "a"; "c" ] in
  check_added chain Added one;
  check_added chain Known one;
  check_head chain one;
  check_pending chain [ "b" ];
  check_confirmed chain [ "a"; "c" ];
  Chain.submit chain "c";
  check_pending chain [ "b" ]

(* The longer branch confirms "a" in another block, and it doesn't confirm "b". *)
let abandons () =
  let chain = create () in
  let one = block Block.genesis [ "a" ] in
  let two = block one [ "b" ] in
  let other = block Block.genesis [ "c" ] in
  let other_two = block other [ "d" ] in
  let other_three = block other_two [ "a" ] in
  check_added chain Added one;
  check_added chain Added two;
  check_added chain Added other;
  check_head chain two;
  check_confirmed chain [ "a"; "b" ];
  check_pending chain [ "c" ];
  check_added chain Added other_two;
  check_added chain Added other_three;
  check_head chain other_three;
  check_pending chain [ "b" ];
  check_confirmed chain [ "a"; "c"; "d" ];
  (* Then the first branch becomes the longer one again. *)
  let three = block two [ "e" ] in
  let four = block three [ "c" ] in
  check_added chain Added three;
  check_added chain Added four;
  check_head chain four;
  check_pending chain [ "d" ];
  check_confirmed chain [ "a"; "b"; "c"; "e" ]

(* Two chains get blocks of the same height in different orders, and still agree on the
   head. *)
let agrees () =
  let blocks = List.init 5 (fun i -> block Block.genesis [ string_of_int i ]) in
  let one = create () and other = create () in
  List.iter (check_added one Added) blocks;
  List.iter (check_added other Added) (List.rev blocks);
  check_head one (Watch.get (Chain.head other));
  Alcotest.(check int)
    "pending" 4
    (Chain.Transactions.cardinal (Watch.get (Chain.pending one)))

let refuses () =
  let chain = create () in
  let invalid name why f =
    Alcotest.check_raises name (Block.Invalid why) (fun () -> ignore (f ()))
  in
  let one = block Block.genesis [ "a" ] in
  let two = block one [ "b" ] in
  check_added chain Orphan two;
  check_added chain Added one;
  check_added chain Added two;
  let twice = "a chain has the same transaction twice" in
  invalid "in the main chain" twice (fun () -> add chain (block two [ "a" ]));
  (* "b" is in the main chain, but it isn't in the chain before the blocks of a shorter
     branch. *)
  let three = block two [ "d" ] in
  let four = block three [ "e" ] in
  let other = block one [ "c" ] in
  let other_two = block other [ "b" ] in
  List.iter (check_added chain Added) [ three; four; other; other_two ];
  check_head chain four;
  invalid "in a branch" twice (fun () -> add chain (block other_two [ "c" ]));
  invalid "in a block" "a block has the same transaction twice" (fun () ->
      add chain (block two [ "d"; "d" ]));
  invalid "empty" "a transaction of 0 bytes, but only 1 to 1000 are allowed"
    (fun () -> Chain.submit chain "");
  let high = Codec.encode Block.write two in
  let high =
    "\000\000\000\000\000\000\000\007"
    ^ String.sub high 8 (String.length high - 8)
  in
  invalid "height" "a block's height is not its parent's plus 1" (fun () ->
      Chain.add chain (Codec.decode Block.read high));
  let weak =
    Block.search ~continue:ignore ~difficulty:0 ~parent:two [ "weak" ]
  in
  let is_weak = weak.hash.[0] <> '0' in
  if is_weak then
    invalid "hash" ("the hash " ^ weak.hash) (fun () -> add chain weak)

let work () =
  let chain = create () in
  Chain.submit chain "a";
  let work = Chain.work chain in
  Alcotest.(check (list string)) "transactions" [ "a" ] work.transactions;
  Alcotest.(check (option unit)) "stale" None (Event.poll work.stale);
  Alcotest.(check (option unit)) "more" None (Event.poll work.more);
  Chain.submit chain "b";
  Alcotest.(check (option unit)) "stale" None (Event.poll work.stale);
  Alcotest.(check (option unit)) "more" (Some ()) (Event.poll work.more);
  check_added chain Added (block work.parent work.transactions);
  Alcotest.(check (option unit)) "stale" (Some ()) (Event.poll work.stale)

let () =
  let case name f = Alcotest.test_case name `Quick f in
  Alcotest.run "chain"
    [
      ( "branches",
        [
          case "a chain grows" grows;
          case "a branch is abandoned" abandons;
          case "equal heights" agrees;
          case "invalid blocks" refuses;
        ] );
      ("work", [ case "changes" work ]);
    ]
