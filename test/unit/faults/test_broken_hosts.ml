(* Hosts that break the contract: what they do to the one task of theirs, they do to no
   other, nor to the structure. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* [f] up to where it waits, on a host that keeps no part of H2: its resumer raises each
   time that it is called, and its task never goes on. *)
let on_raising_host f =
  let suspend block k =
    match block (fun _ -> raise Boom) with
    | None -> ()
    | Some v -> (* as while debugging, before a wait *) Effect.Deep.continue k v
  in
  Handled.until_wait { suspend } (fun () -> ignore (f ()))

let fails (place : int Operations.place) =
  raises "whoever wakes it is told" Boom place.wake

(* The second wake is for the second task. *)
let next_is_served (operation : int Operations.t) () =
  let place = operation.make 10 in
  on_raising_host (fun () -> place.wait 1);
  let next = Hand.start (fun () -> ignore (place.wait 2 : int)) in
  fails place;
  ignore (place.wake () : int);
  Hand.settle ();
  Hand.result next;
  int "waiters" 0 (place.waiters ())

(* One wake is for all tasks. *)
let others_are_served (operation : int Operations.t) () =
  let place = operation.make 10 in
  let start name = Hand.start (fun () -> ignore (place.wait name : int)) in
  let before = start 1 in
  on_raising_host (fun () -> place.wait 2);
  let behind = start 3 in
  fails place;
  Hand.settle ();
  Hand.result before;
  Hand.result behind;
  int "waiters" 0 (place.waiters ())

(* [f] up to where it waits, on a host in whose resumer a signal handler raises, after the
   decision. The result lets the task go on. *)
let on_struck_host f =
  let go_on = ref (fun () -> Alcotest.fail "it was not resumed") in
  let suspend block k =
    let decided = ref false in
    let resumer outcome =
      (not !decided)
      && begin
        decided := true;
        (go_on := fun () -> Handled.go_on k outcome);
        raise Boom
      end
    in
    match block resumer with
    | None -> ()
    | Some v ->
        decided := true;
        Effect.Deep.continue k v
  in
  Handled.run { suspend } ~ret:ignore f;
  fun () -> !go_on ()

let both_are_served (operation : int Operations.t) () =
  let place = operation.make 10 in
  let go_on = on_struck_host (fun () -> place.wait 1) in
  let next = Hand.start (fun () -> ignore (place.wait 2 : int)) in
  fails place;
  go_on ();
  ignore (place.wake () : int);
  Hand.settle ();
  Hand.result next;
  int "waiters" 0 (place.waiters ())

(* One release is for both, or the first one makes the next one go on. *)
let all_go_on (operation : int Operations.t) () =
  let place = operation.make 2 in
  let go_on = on_struck_host (fun () -> place.wait 1) in
  let next = Hand.start (fun () -> ignore (place.wait 2 : int)) in
  raises "whoever releases it is told" Boom (fun () -> place.release 0);
  go_on ();
  Hand.settle ();
  Hand.result next;
  int "waiters" 0 (place.waiters ())

(* A host that calls [block] a second time: its resumers belong to one wait. *)
let on_host_that_repeats f =
  let suspend block k =
    let decided = ref false in
    let resumer outcome =
      (not !decided)
      && begin
        decided := true;
        Handled.go_on k outcome;
        true
      end
    in
    for _ = 1 to 2 do
      ignore (block resumer : _ option)
    done
  in
  Handled.run { suspend } ~ret:Fun.id f

(* The one that is there twice takes one value. *)
let enlisted_twice () =
  let box = Mailbox.create () and got = ref [] in
  on_host_that_repeats (fun () -> got := Mailbox.take box :: !got);
  let next = Hand.start (fun () -> Mailbox.take box) in
  Mailbox.put box 1;
  Mailbox.put box 2;
  Hand.settle ();
  Alcotest.(check (list int)) "the first value" [ 1 ] !got;
  int "the second one" 2 (Hand.result next)

(* --- Which operations ----------------------------------------------------------- *)

let one_by_one case (operation : int Operations.t) =
  match operation.service with
  | Takes | Gives -> Some (test operation.name (case operation))
  | Shares | Passes | Meets -> None

let together case (operation : int Operations.t) =
  match operation.service with
  | Passes | Meets -> Some (test operation.name (case operation))
  | Takes | Gives | Shares -> None

let at_once case (operation : int Operations.t) =
  if operation.service = Shares then Some (test operation.name (case operation))
  else None

let each which = List.filter_map which Operations.all

let () =
  run "Faults of hosts"
    [
      ("a resumer raises: the next one", each (one_by_one next_is_served));
      ("a resumer raises: all others", each (at_once others_are_served));
      ( "a resumer raises, and has decided: both",
        each (one_by_one both_are_served) );
      ("the same: all go on", each (together all_go_on));
      ("block is called twice", [ test "one value" enlisted_twice ]);
    ]
