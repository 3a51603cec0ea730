(* Direct style in plain callbacks, which can't wait. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run

(* --- Plain callbacks ------------------------------------------------------ *)

let in_callback () =
  let each (name, make) =
    let { Waits.wait; waiters; wake; kept; _ } = make () in
    let* () = Lwt.pause () in
    raises name Concord_lwt.In_callback wait;
    int (name ^ ": withdrawn") 0 (waiters ());
    wake ();
    yes (name ^ ": nothing is lost") (kept ());
    (* The loop continues as before. *)
    Lwt.pause ()
  in
  run (fun () -> Lwt_list.iter_s each Cases.direct)

(* --- Lazy values that are forced in a plain callback ----------------------- *)

exception Wrapped of exn

(* The computation would have to wait there. So it hasn't failed, whatever it raises, and the
   next task to force the value runs it again. *)
let lazy_refused () =
  let each (name, from_fun) =
    let p = Promise.create () and runs = ref 0 in
    let t =
      from_fun (fun () ->
          incr runs;
          Promise.await p)
    in
    let* () = Lwt.pause () in
    (match Lazy.force t with
    | (_ : int) -> Alcotest.fail (name ^ ": it has a value")
    | exception _ -> ());
    yes (name ^ ": it has not failed") (Lazy.peek t = None);
    int (name ^ ": no task waits") 0 (Promise.waiters p);
    let forced = Concord_lwt.Lazy.force t in
    int (name ^ ": the next one waits") 1 (Promise.waiters p);
    Promise.fill p 5;
    let+ v = forced in
    int (name ^ ": the value") 5 v;
    int (name ^ ": runs") 2 !runs;
    int (name ^ ": for all") 5 (Lazy.force t)
  in
  let wrapping f () = try f () with e -> raise (Wrapped e) in
  let cleaning f () =
    Fun.protect f ~finally:(fun () -> Mvar.take (Mvar.create_empty ()))
  in
  let in_another f = Lazy.map Fun.id (Lazy.from_fun f) in
  run @@ fun () ->
  let* () =
    Lwt_list.iter_s each
      [
        ("restart", fun f -> Lazy.from_fun f);
        ("record", fun f -> Lazy.from_fun ~cancel:`Record f);
        ("protect", fun f -> Lazy.from_fun ~cancel:`Protect f);
        ("wraps the exception", fun f -> Lazy.from_fun (wrapping f));
        ("in another one", in_another);
      ]
  in
  let p = Promise.create () in
  let t = Lazy.from_fun (cleaning (fun () -> Promise.await p)) in
  (match Lazy.force t with
  | () -> Alcotest.fail "it has a value"
  | exception Fun.Finally_raised Concord_lwt.In_callback -> ());
  yes "it has not failed" (Lazy.peek t = None);
  Lwt.return_unit

(* A task that waits for the value meanwhile continues the computation, in its own domain. *)
let lazy_passed_on () =
  run @@ fun () ->
  let p = Promise.create () and runs = Atomic.make 0 in
  let this = ref (Lazy.from_val 0) in
  let t =
    Lazy.from_fun (fun () ->
        if Atomic.fetch_and_add runs 1 = 0 then
          eventually "the domain waits" (fun () -> Lazy.waiters !this = 1);
        Promise.await p)
  in
  this := t;
  let join =
    Check.domain (fun () ->
        eventually "it computes" (fun () -> Atomic.get runs = 1);
        int "the value" 7 (Lazy.force t))
  in
  let* () = Lwt.pause () in
  raises "refused" Concord_lwt.In_callback (fun () -> Lazy.force t);
  Promise.fill p 7;
  join ();
  int "for all" 7 (Lazy.force t);
  int "runs" 2 (Atomic.get runs);
  Lwt.return_unit

(* A computation that fails without having to wait has failed for all tasks. *)
let lazy_failed () =
  run @@ fun () ->
  let runs = ref 0 in
  let t =
    Lazy.from_fun (fun () ->
        incr runs;
        raise Exit)
  in
  let* () = Lwt.pause () in
  raises "here" Exit (fun () -> Lazy.force t);
  raises "here again" Exit (fun () -> Lazy.force t);
  raises "there" Exit (fun () -> in_domain (fun () -> Lazy.force t));
  int "runs" 1 !runs;
  no "a callback is not cancelled" (Suspend.is_cancelled ());
  (* Refused here before, the computation fails later where it can wait. *)
  let p = Promise.create () in
  let u = Lazy.from_fun (fun () -> Promise.await p) in
  raises "refused" Concord_lwt.In_callback (fun () -> Lazy.force u);
  Promise.fail p Exit;
  raises "failed" Exit (fun () -> Lazy.force u);
  yes "for good" (Lazy.peek u = Some (Error Exit));
  Lwt.return_unit

let message () =
  let text = Printexc.to_string Concord_lwt.In_callback in
  List.iter
    (fun part -> yes part (contains text part))
    [
      "Concord_lwt.Mvar.take";
      "Concord_lwt.sync";
      "Concord_lwt.direct";
      "callback";
    ]

(* The exception has no arguments, so the message is about the call that was refused last. *)
let message_names_call () =
  let says call parts () =
    let* () = Lwt.pause () in
    raises "refused" Concord_lwt.In_callback call;
    let text = Printexc.to_string Concord_lwt.In_callback in
    List.iter (fun part -> yes text (contains text part)) parts;
    Lwt.return_unit
  in
  run (fun () ->
      let box = Mvar.create_empty () in
      let* () =
        says
          (fun () -> Mvar.take box)
          [
            "The operation that was refused last is Mvar.take";
            "Use Concord_lwt.Mvar.take instead";
          ]
          ()
      in
      says
        (fun () -> Cases.of_a_library box)
        [
          "The call that was refused last is Cases.of_a_library, at ";
          "test_callbacks.ml";
          "It has to wait in Mvar.take. Call it in Concord_lwt.direct";
        ]
        ())

(* An operation that doesn't have to wait is performed. *)
let callback_at_once () =
  run @@ fun () ->
  let* () = Lwt.pause () in
  let box = Mvar.create 1 in
  int "taken" 1 (Mvar.take box);
  int "forced" 2 (Lazy.force (Lazy.from_fun (fun () -> 2)));
  Mvar.put box 3;
  Lwt.return_unit

(* Another domain fills the boxes at the same time. Each operation is refused, or gets its
   value. *)
let callback_race () =
  run @@ fun () ->
  let* () = Lwt.pause () in
  let refused = ref 0 and n = 1_000 in
  let boxes = Array.init n (fun _ -> Mvar.create_empty ()) in
  let join =
    Check.domain (fun () -> Array.iter (fun b -> Mvar.put b ()) boxes)
  in
  Array.iter
    (fun box ->
      match Mvar.take box with
      | () -> ()
      | exception Concord_lwt.In_callback -> incr refused)
    boxes;
  join ();
  let left =
    Array.fold_left
      (fun n box ->
        int "no task waits" 0 (Mvar.waiters box);
        if Mvar.is_empty box then n else n + 1)
      0 boxes
  in
  int "what was refused is there" !refused left;
  Lwt.return_unit

let () =
  Check.run "Concord_lwt, callbacks"
    [
      ( "plain callbacks",
        [
          test "each raises In_callback, and leaves nothing" in_callback;
          test "a lazy value that had to wait is not failed" lazy_refused;
          test "and is passed on" lazy_passed_on;
          test "one that failed is" lazy_failed;
          test "its message" message;
          test "its message names the call" message_names_call;
          test "operations that don't have to wait are performed"
            callback_at_once;
          test "against resuming, from another domain" callback_race;
        ] );
    ]
