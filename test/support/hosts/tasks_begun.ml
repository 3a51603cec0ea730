(* Which elements of [iter] and [map] begin, if an element fails or the task is cancelled. *)

open Concord
open Concord_test_support
open Check

exception Boom

let never () : unit = Event.sync Event.never
let numbers n = List.init n succ
let ints name = Alcotest.(check (list int)) name

type iterate = int option -> (int -> unit) -> int list -> unit

let iter : iterate = fun max_tasks f xs -> Tasks.iter ?max_tasks f xs

let map : iterate =
 fun max_tasks f xs -> ignore (Tasks.map ?max_tasks f xs : unit list)

(* Returns [begun], and a function that records each argument before it calls [f]. [begun ()]
   is the list of these arguments in order. *)
let noting f =
  let begun = ref [] in
  let f x =
    begun := x :: !begun;
    f x
  in
  ((fun () -> List.rev !begun), f)

(* --- Failures --------------------------------------------------------------- *)

(* The element fails at once, before later elements would have begun. *)
let fails (iterate : iterate) () =
  let check name expected max_tasks fail n =
    let begun, f = noting (fun x -> if x = fail then raise Boom) in
    raises name Boom (fun () -> iterate max_tasks f (numbers n));
    ints name expected (begun ())
  in
  check "the first of two" [ 1 ] None 1 2;
  check "the last but one" [ 1; 2; 3 ] None 3 4;
  check "the last" [ 1; 2; 3; 4 ] None 4 4;
  check "the first, limited" [ 1 ] (Some 2) 1 5;
  check "one, limited" [ 1; 2; 3 ] (Some 2) 3 5;
  check "one task" [ 1; 2 ] (Some 1) 2 5

(* The other elements ignore their cancellation. *)
let fails_and_others_go_on (iterate : iterate) () =
  let begun, f =
    noting (fun x ->
        if x = 1 then begin
          Tasks.yield ();
          raise Boom
        end
        else try never () with _ -> ())
  in
  raises "failure" Boom (fun () -> iterate (Some 2) f (numbers 6));
  ints "begun" [ 1; 2 ] (begun ())

(* --- A scope that is cancelled ------------------------------------------------ *)

(* This is the same on all hosts, because the elements ignore that the other function was
   faster. *)
let too_late (iterate : iterate) () =
  let check name max_tasks n expected =
    let all_begun = Promise.create () in
    let begun, f =
      noting (fun x ->
          if x = expected then Promise.fill all_begun ();
          try never () with _ -> ())
    in
    Tasks.first
      (fun () -> Promise.await all_begun)
      (fun () -> iterate max_tasks f (numbers n));
    ints name (numbers expected) (begun ())
  in
  check "two of six" (Some 2) 6 2;
  check "all of three" None 3 3

(* --- Cancelled -------------------------------------------------------------- *)

(* The task is cancelled from outside while its elements wait, and the elements ignore it. *)
let swallowed (host : Cancelling.host) (iterate : iterate) () =
  host.run @@ fun () ->
  let begun, f = noting (fun _ -> try never () with _ -> ()) in
  let over = ref false in
  let cancel =
    host.fork (fun () ->
        (match iterate (Some 2) f (numbers 6) with
        | () -> ()
        | exception e -> yes "the host's" (host.is_cancellation e));
        over := true)
  in
  Cancelling.until host "two have begun" (fun () -> List.length (begun ()) = 2);
  cancel ();
  Cancelling.until host "it is over" (fun () -> !over);
  ints "begun" [ 1; 2 ] (begun ())

(* The task is cancelled while one element computes. *)
let computing (host : Cancelling.host) (iterate : iterate) () =
  host.run @@ fun () ->
  let cancel = ref ignore and over = ref false in
  let gate = Promise.create () in
  let begun, f = noting (fun x -> if x = 2 then !cancel ()) in
  let work () =
    Promise.await gate;
    List.iter
      (fun max_tasks ->
        match iterate max_tasks f (numbers 5) with
        | () -> Alcotest.fail "not cancelled"
        | exception e -> yes "the host's" (host.is_cancellation e))
      [ Some 1; Some 2; None ];
    over := true
  in
  cancel := host.fork work;
  Promise.fill gate ();
  Cancelling.until host "it is over" (fun () -> !over);
  ints "begun" [ 1; 2 ] (begun ())

(* --- Suites ----------------------------------------------------------------- *)

let everywhere (name, place) =
  let cases =
    [
      ("a failure", fails);
      ("a failure, and others continue", fails_and_others_go_on);
      ("others are faster", too_late);
    ]
  in
  ( name ^ ": elements that begin",
    List.concat_map
      (fun (what, case) ->
        [
          test ("iter, " ^ what) (fun () -> place (case iter));
          test ("map, " ^ what) (fun () -> place (case map));
        ])
      cases )

let take_no_notice name host =
  ( name ^ ": they ignore the cancellation",
    [ test "iter" (swallowed host iter); test "map" (swallowed host map) ] )

let cancelled name host =
  ( name ^ ": elements that begin, cancelled",
    [
      test "iter, they ignore the cancellation" (swallowed host iter);
      test "map, they ignore the cancellation" (swallowed host map);
      test "iter, one computes" (computing host iter);
      test "map, one computes" (computing host map);
    ] )

(* This host cancels nothing. *)
let plain =
  ( "a host that cannot cancel: elements that begin",
    [
      test "iter" (fun () -> Plain_host.run (fails iter));
      test "map" (fun () -> Plain_host.run (fails map));
    ] )
