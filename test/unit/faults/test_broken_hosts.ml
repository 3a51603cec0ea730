(* Hosts that break the contract. A fault may harm the host's own task, but no other task
   and not the structure. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* Runs [f] until it waits, on a host that breaks clause H2. Its resumer raises at each
   call, and its task never continues. *)
let on_raising_host f =
  let suspend block k =
    match block (fun _ -> raise Boom) with
    | None -> ()
    | Some v ->
        (* A debugged program may answer before the wait *)
        Effect.Deep.continue k v
  in
  Handled.until_wait { suspend } (fun () -> ignore (f ()))

let fails (place : int Operations.place) =
  raises "the waker gets the exception" Boom place.wake

(* The first wake meets the broken host's task. The second one must serve the next task. *)
let next_is_served (operation : int Operations.t) () =
  let place = operation.make 10 in
  on_raising_host (fun () -> place.wait 1);
  let next = Hand.start (fun () -> ignore (place.wait 2 : int)) in
  fails place;
  ignore (place.wake () : int);
  Hand.settle ();
  Hand.result next;
  int "waiters" 0 (place.waiters ())

(* One wake serves all tasks, and those before and behind the broken one must get it. *)
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

(* Runs [f] until it waits, on a host in whose resumer a signal handler raises after the
   decision. The returned function lets the task continue. *)
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

(* One release serves both tasks, or the first task serves the next one when it continues. *)
let all_go_on (operation : int Operations.t) () =
  let place = operation.make 2 in
  let go_on = on_struck_host (fun () -> place.wait 1) in
  let next = Hand.start (fun () -> ignore (place.wait 2 : int)) in
  raises "the releaser gets the exception" Boom (fun () -> place.release 0);
  go_on ();
  Hand.settle ();
  Hand.result next;
  int "waiters" 0 (place.waiters ())

(* This host calls [block] twice for one wait, so both resumers belong to the same wait. *)
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

(* The task is in the queue twice, but must take only one value. *)
let enlisted_twice () =
  let box = Mailbox.create () and got = ref [] in
  on_host_that_repeats (fun () -> got := Mailbox.take box :: !got);
  let next = Hand.start (fun () -> Mailbox.take box) in
  Mailbox.add box 1;
  Mailbox.add box 2;
  Hand.settle ();
  Alcotest.(check (list int)) "the first value" [ 1 ] !got;
  int "the second one" 2 (Hand.result next)

(* --- Operations that are tested ------------------------------------------------- *)

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
      ("the same: all continue", each (together all_go_on));
      ("block is called twice", [ test "one value" enlisted_twice ]);
    ]
