(* Every operation of every structure, interrupted at every moment: it has happened
   completely, or not at all. *)

open Concord_test_support
open Check

(* The table counts their results, so it can't judge one that was interrupted. They are in
   [Locks] and [Queues]. *)
let counts_results (operation : int Operations.t) =
  List.exists
    (fun prefix -> String.starts_with ~prefix operation.name)
    [ "Channel.receive"; "Rwlock.read_lock"; "Condition.wait," ]

(* Left out until these structures are made of steps. *)
let not_yet = []

(* The page "Threads and domains" lists these by name. *)
let listed =
  [
    "Mvar.swap_evt, chosen";
    "Mvar.swap_evt, polled";
    "Mvar.swap_evt, before a time";
    "Mvar.modify_evt, chosen";
    "Mvar.modify_evt, polled";
    "Mvar.modify_evt, before a time";
    "Pool.use_evt, chosen";
    "Pool.use_evt, polled";
    "Pool.use_evt, before a time";
  ]

(* And these, if two handlers raise in a row; of a choice, a waiter that was withdrawn may then
   still be counted. *)
let listed_in_a_row =
  [ "Condition.wait, "; "Condition.wait_evt"; "another is chosen" ]

let is_among parts (case : Scene.case) =
  List.exists (fun part -> contains case.name part) parts

let all_cases =
  List.concat_map Scene.of_operation
    (List.filter (fun it -> not (counts_results it)) Operations.all)
  @ Locks.cases @ Boxes.cases @ Queues.cases @ Resources.cases

let cases =
  List.filter (fun case -> not (is_among (not_yet @ listed) case)) all_cases

(* --- Are these all? ---------------------------------------------------------------- *)

(* They make a structure, or only look at it. *)
let makes_or_looks =
  [
    "create"; "create_empty"; "create_mailbox"; "create_in_order"; "make"; "make_in_order"; "of_value"; "of_stdlib";
    "from_fun"; "from_val"; "waiters"; "senders"; "is_empty"; "is_closed"; "is_open";
    "is_locked"; "is_val"; "is_resolved"; "peek"; "length"; "capacity"; "count";
    "parties"; "get_value"; "size"; "idle"; "in_use";
  ]
[@@ocamlformat "disable"]

(* They start a thread. [test_promise_made] has handlers that raise in it, and in the
   caller. *)
let elsewhere = [ "Promise.in_thread"; "Promise.in_domain" ]

(* The documentation leaves it out, because only [Concord_fifo] calls it. *)
let hidden = [ "Promise.fail_waiters" ]
let last name = List.hd (List.rev (String.split_on_char '.' name))

let operations () =
  List.filter
    (fun name ->
      not (List.mem (last name) makes_or_looks || List.mem name elsewhere))
    (Names.of_interfaces ())

let described () =
  List.sort_uniq compare
    (List.map
       (fun (case : Scene.case) -> List.hd (String.split_on_char ',' case.name))
       all_cases)

let are_all () =
  strings "described here"
    (List.sort_uniq compare (hidden @ operations ()))
    (described ())

(* --- All of them -------------------------------------------------------------------- *)

let structure (case : Scene.case) = List.hd (String.split_on_char '.' case.name)

(* Those of each structure are one test. *)
let each partner cases f =
  let of_structure name =
    test name (fun () ->
        let partner = partner () in
        let faults =
          List.concat_map
            (fun case -> if structure case = name then f partner case else [])
            cases
        in
        Partner.stop partner;
        if faults <> [] then Alcotest.fail (String.concat "\n" faults))
  in
  List.map of_structure (List.sort_uniq compare (List.map structure cases))

let alone in_a_row partner case =
  let twice = List.memq case in_a_row in
  Trying.alone ~seed:Race.seed ~twice partner case

let is_on_page page name =
  yes (name ^ " is on the page")
    (contains page (List.hd (String.split_on_char ',' name)))

(* The page names them, and they are not whole. Those that are do not belong to the list. *)
let are_listed () =
  let read file = In_channel.with_open_text file In_channel.input_all in
  let page = read "../../../doc/threads.mld" in
  let partner = Partner.thread () in
  is_on_page page "Condition.wait";
  List.iter
    (fun name ->
      is_on_page page name;
      let these = List.filter (is_among [ name ]) all_cases in
      let faults = List.concat_map (alone these partner) these in
      yes (name ^ " keeps less") (faults <> []))
    listed;
  Partner.stop partner

let only_tries case = is_among [ "polled"; ".try_"; "available" ] case

(* Something happens there meanwhile. With a timeout it is a choice as any other. What is only
   tried may be held by the other domain just then. *)
let is_accompanied (case : Scene.case) =
  let scene = case.make () in
  ignore (scene.look () : int list);
  (Option.is_some scene.wake || Option.is_some scene.beside)
  && (not (contains case.name "before a time"))
  && not (only_tries case && Option.is_some scene.beside)

let beside partner case =
  if is_accompanied case then Trying.beside ~seed:Race.seed partner case else []

(* One handler raises at each moment of each of them. With another one right after it, and
   beside another domain, the seed draws some. *)
let () =
  let in_a_row =
    Race.drawn
      (List.filter (fun case -> not (is_among listed_in_a_row case)) cases)
  and accompanied = Race.drawn cases in
  run "operations, interrupted"
    [
      ( "the operations",
        [
          test "are all described" are_all;
          test "are listed, if they keep less" are_listed;
        ] );
      ("alone", each Partner.thread cases (alone in_a_row));
      ("beside another domain", each Partner.domain accompanied beside);
    ]
