(* Identities of tasks, and how they are compared. *)

open Concord
open Concord_test_support
open Check
module Who = Concord__core__Who
module Who_is = Concord__core__Who_is
module Identity = Concord__core__Identity
module Attached_data = Concord__core__Attached_data

let make who () = Who.make ~host:"test" ~name:"a task" who

let once tasks number =
  Who_is.once tasks number ~host:"test" ~name:(fun () -> "")

let is_same_pointer (a : Who.t) (b : Who.t) = a.identity == b.identity

(* Asks for the identities of [n] tasks in turns. After some rounds, all must be remembered. *)
let in_turns n =
  let tasks = Who_is.tasks () and ids = Array.init n (fun i -> ref i) in
  let ask () = Array.mapi (fun i id -> once tasks (1 + i) id) ids in
  let rec asked_until_kept rounds =
    let before = ask () in
    let again = ask () in
    if not (Array.for_all2 is_same_pointer before again) then
      if rounds = 0 then
        Alcotest.failf "the identities of %d tasks are made again" n
      else asked_until_kept (rounds - 1)
  in
  asked_until_kept 20;
  ignore (Sys.opaque_identity ids : int ref array)

let made_once () = List.iter in_turns [ 1; 2; 15; 16; 17; 1_000; 16_384 ]

(* The numbers are large and never used twice, as in a host that counts its tasks. *)
let many_end () =
  let tasks = Who_is.tasks () in
  for number = 1 to 100_000 do
    let id = ref number in
    let who = once tasks number id in
    yes "the same pointer" (is_same_pointer who (once tasks number id));
    ignore (Sys.opaque_identity id : int ref)
  done

let another_of_the_number () =
  let tasks = Who_is.tasks () and a = ref 1 and b = ref 2 in
  let who_a = once tasks 7 a in
  let who_b = once tasks 7 b in
  no "another task" (Who.same who_a who_b);
  yes "known again" (Who.same who_a (once tasks 7 a));
  ignore (Sys.opaque_identity (a, b) : int ref * int ref)

let elsewhere () =
  let tasks = Who_is.tasks () and id = ref 0 in
  let who = Who_is.once ~domain:1 tasks 3 ~host:"" ~name:(fun () -> "") id in
  let moved = Who_is.once ~domain:2 tasks 3 ~host:"" ~name:(fun () -> "") id in
  int "domain" 1 who.domain;
  int "the other domain" 2 moved.domain;
  yes "the same" (Who.same who moved);
  yes "the same pointer" (is_same_pointer who moved)

let[@inline never] once_of_new tasks = once tasks 1 (ref 0)

(* Remembering a task must not keep it alive. *)
let ends () =
  let tasks = Who_is.tasks () in
  let who = once_of_new tasks in
  eventually "its end is seen" (fun () ->
      Gc.full_major ();
      Who.has_ended who);
  no "the same as none" (Who.same who who);
  ignore (Sys.opaque_identity tasks : Who_is.tasks)

let threads_of_a_domain () =
  let asked () =
    let before = Who_is.this_thread () in
    Thread.yield ();
    yes "the same pointer" (is_same_pointer before (Who_is.this_thread ()));
    before
  in
  let here = asked () and there = Promise.create () in
  let leave = Promise.create () in
  let thread =
    Thread.create
      (fun () ->
        Promise.fill there (asked ());
        Promise.await leave)
      ()
  in
  no "two threads" (Who.same here (Promise.await there));
  yes "this one again" (Who.same here (asked ()));
  Promise.fill leave ();
  Thread.join thread

(* --- Pointers ------------------------------------------------------------------ *)

let strong () =
  let who = Who.make_strong ~host:"test" ~name:"a task" (ref ()) in
  Gc.full_major ();
  no "kept alive" (Who.has_ended who);
  yes "the same" (Who.same who who);
  Identity.release who.identity;
  yes "released" (Who.has_ended who);
  no "the same as none" (Who.same who who)

let both_kinds () =
  let id = ref () and other = ref () in
  let strong = Who.make_strong ~host:"test" ~name:"a task" id in
  yes "weak and strong" (Who.same (make id ()) strong);
  no "to another" (Who.same (make other ()) strong);
  ignore (Sys.opaque_identity (id, other) : unit ref * unit ref)

let[@inline never] attached_to_new () =
  let owner = ref 1 in
  Attached_data.attach owner (owner, "attached")

(* An attachment may refer to its owner, but must not keep it alive. *)
let attachments () =
  let owner = ref 1 and other = ref 1 in
  let attached = Attached_data.attach owner (owner, "attached") in
  let to_ v = Attached_data.attached_to (Identity.pointer v) attached in
  yes "to its owner" (to_ owner = Some (owner, "attached"));
  yes "to no other" (to_ other = None);
  yes "in use" (not (Attached_data.is_useless attached));
  yes "the owner" (Identity.points_to (Attached_data.owner attached) owner);
  let lost = attached_to_new () in
  eventually "it is collected" (fun () ->
      Gc.full_major ();
      Attached_data.is_useless lost);
  yes "nothing" (Attached_data.attached lost = None);
  yes "of the other" (Attached_data.attached attached = Some (owner, "attached"))

let () =
  run "who"
    [
      ( "made once",
        [
          test "in turns" made_once;
          test "of ending tasks" many_end;
          test "another task with the number" another_of_the_number;
          test "in another domain" elsewhere;
          test "it ends" ends;
          test "threads" threads_of_a_domain;
        ] );
      ( "pointers",
        [
          test "strong" strong;
          test "both kinds" both_kinds;
          test "attached" attachments;
        ] );
    ]
