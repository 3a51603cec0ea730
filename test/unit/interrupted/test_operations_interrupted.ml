(* Interrupts every operation of every structure at every moment. Afterwards the operation
   must have happened completely or not at all. *)

open Concord_test_support
open Check

(* The table counts the results of these operations, so it can't judge an interrupted one.
   [Locks], [Queues] and [Resources] have scenes for them. *)
let counts_results (operation : int Operations.t) =
  List.exists
    (fun prefix -> String.starts_with ~prefix operation.name)
    [ "Channel.receive"; "Rwlock.read_lock"; "Condition.wait,"; "Pool.obtain" ]

(* Operations that are left out until their structures are made of steps. *)
let not_yet = []

(* These may be left half done. The page "Threads and domains" lists them by name. *)
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
    "Pool.obtain_evt, chosen";
    "Pool.obtain_evt, polled";
    "Pool.obtain_evt, before a time";
  ]

(* These may be left half done if two handlers raise in a row. *)
let listed_in_a_row = [ "Condition.wait, "; "Condition.wait_evt" ]

let is_among parts (case : Scene.case) =
  List.exists (fun part -> contains case.name part) parts

let all_cases =
  List.concat_map Scene.of_operation
    (List.filter (fun it -> not (counts_results it)) Operations.all)
  @ Locks.cases @ Boxes.cases @ Queues.cases @ Resources.cases

let cases =
  List.filter (fun case -> not (is_among (not_yet @ listed) case)) all_cases

(* --- Completeness ------------------------------------------------------------------ *)

(* Operations that create a structure or only read it. *)
let makes_or_looks =
  [
    "create"; "create_empty"; "create_mailbox"; "create_in_order";
    "create_empty_in_order"; "make"; "make_in_order"; "of_value"; "of_stdlib";
    "from_fun"; "from_val"; "waiters"; "senders"; "is_empty"; "is_closed"; "is_open";
    "is_locked"; "is_val"; "is_resolved"; "peek"; "length"; "capacity"; "count";
    "parties"; "get_value"; "size"; "idle"; "in_use"; "value";
  ]
[@@ocamlformat "disable"]

(* These start a thread. [test_promise_made] has handlers that raise in the thread and in
   the caller. *)
let elsewhere = [ "Promise.in_thread"; "Promise.in_domain" ]

(* The documentation leaves these out, because only [Concord_fifo] and the monadic modules call
   them. *)
let hidden = [ "Promise.fail_waiters"; "Rwlock.end_write" ]
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

(* --- The tests ---------------------------------------------------------------------- *)

let structure (case : Scene.case) = List.hd (String.split_on_char '.' case.name)

(* Makes one test for the operations of each structure. *)
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

(* The page must name each of these, and each must have a fault. One that has none must
   leave the list. *)
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

(* Tells whether another domain can take part. A choice with a timeout adds nothing to other
   choices. An operation that only tries may fail, because the other domain may hold the
   structure just then. *)
let is_accompanied (case : Scene.case) =
  let scene = case.make () in
  ignore (scene.look () : int list);
  (Option.is_some scene.wake || Option.is_some scene.beside)
  && (not (contains case.name "before a time"))
  && not (only_tries case && Option.is_some scene.beside)

let beside partner case =
  if is_accompanied case then Trying.beside ~seed:Race.seed partner case else []

(* One handler raises at each moment of each operation. The seed selects the cases in which
   a second handler raises right after it, and those beside another domain. *)
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
