(* Which waits spin before they suspend depends on what happened before, and on the load. The
   result of each operation must not depend on it. *)

open Concord
open Concord_test_support
open Check
open Operations

(* Three tasks wait, and all are served before the first one continues. *)
let served_in_order operation way () =
  let place = operation.make 3 in
  let wait = way place in
  let served = ref [] and got = ref [] in
  let task name () =
    let v = wait name in
    served := name :: !served;
    got := v :: !got
  in
  List.iter
    (fun name -> ignore (Hand.start (task name) : unit Hand.t))
    [ 1; 2; 3 ];
  int "waiters" 3 (place.waiters ());
  let one_by_one = operation.service = Takes || operation.service = Gives in
  let gave = List.init (if one_by_one then 3 else 1) (fun _ -> place.wake ()) in
  Hand.settle ();
  Alcotest.(check (list int)) "served" [ 1; 2; 3 ] (List.rev !served);
  int "waiters" 0 (place.waiters ());
  let left = place.left () in
  let brought, taken =
    match operation.service with
    | Takes -> (gave, List.rev !got)
    | Gives -> ([ 1; 2; 3 ], left)
    | Passes -> (gave @ [ 1; 2; 3 ], List.rev !got @ left)
    | Shares -> (gave @ gave @ gave, List.rev !got)
    | Meets -> ([], [])
  in
  Alcotest.(check (list int)) "values" brought taken

let direct (place : _ place) = place.wait
let event (place : _ place) = Option.get place.event
let synced place name = Event.sync (event place name)
let chosen place name = Event.select [ event place name; Event.never ]

let suite operation =
  let has_event = Option.is_some (operation.make 1).event in
  let test (name, way) =
    test name (Spinning.each (served_in_order operation way))
  in
  ( operation.name,
    List.map test
      (("direct", direct)
      ::
      (if has_event then [ ("its event", synced); ("a choice", chosen) ] else [])
      ) )

let () = run "Whichever waits spin" (List.map suite all)
