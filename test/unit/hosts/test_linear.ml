(* A handler that drops its continuation, while the computation has a file open. *)

open Concord
open Concord_test_support
open Check
open Effect.Deep

type _ Effect.t += E : unit Effect.t

let opened = ref Unix.stdin

let is_open fd =
  match Unix.fstat fd with
  | _ -> true
  | exception Unix.Unix_error (EBADF, _, _) -> false

(* The slides' program. *)
let foo () = Effect.perform E

let bar () =
  let ic = open_in "/dev/null" in
  opened := Unix.descr_of_in_channel ic;
  match foo () with
  | () -> close_in ic
  | exception e ->
      close_in ic;
      raise e

let handled handle f v =
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | E -> Some (fun k -> handle (k : (unit, _) continuation))
    | _ -> None
  in
  try_with f v { effc }

let leaks () =
  handled (fun _ -> ()) bar ();
  yes "the file stays open" (is_open !opened);
  Unix.close !opened

let drops () =
  handled (Linear.case (fun _ -> ())) bar ();
  yes "the file is closed" (not (is_open !opened))

let drops_and_raises () =
  (match handled (Linear.case (fun _ -> raise Exit)) bar () with
  | () -> Alcotest.fail "the handler raised"
  | exception Exit -> ());
  yes "the file is closed" (not (is_open !opened))

let continues () =
  let handle k =
    continue k ();
    yes "the file is closed once" (not (is_open !opened))
  in
  handled (Linear.case handle) bar ()

let discontinues () =
  match handled (Linear.case (fun k -> discontinue k Exit)) bar () with
  | () -> Alcotest.fail "Exit was not raised"
  | exception Exit -> yes "the file is closed" (not (is_open !opened))

(* The runtime's own check, which [case] must not hide. *)
let resumes_twice () =
  let twice k =
    continue k ();
    continue k ()
  in
  match handled (Linear.case twice) bar () with
  | () -> Alcotest.fail "it was resumed twice"
  | exception Effect.Continuation_already_resumed -> ()

let performs_again () =
  let steps = ref 0 in
  let body () =
    Fun.protect foo ~finally:(fun () ->
        (try foo () with Linear.Dropped -> incr steps);
        incr steps)
  in
  handled (Linear.case (fun _ -> ())) body ();
  Alcotest.(check int) "both were dropped" 2 !steps

let raises_another () =
  let body () = try foo () with Linear.Dropped -> raise Not_found in
  match handled (Linear.case (fun _ -> ())) body () with
  | () -> Alcotest.fail "what it raised was lost"
  | exception Not_found -> ()

(* The task waits on the way, in the scheduler around the handler. *)
let below_a_host () =
  Concord_fifo.run (fun () ->
      let gate = Latch.create 1 and log = ref [] in
      let note what = log := what :: !log in
      let body () =
        Fun.protect foo ~finally:(fun () ->
            note "unwinds";
            Latch.await gate)
      in
      let task =
        Concord_fifo.fork (fun () ->
            handled
              (Linear.case (fun _ ->
                   yield ();
                   note "drops"))
              body ();
            note "goes on")
      in
      yield ();
      yield ();
      note "the gate opens";
      Latch.count_down gate;
      Concord_fifo.join task;
      Alcotest.(check (list string))
        "in this order"
        [ "drops"; "unwinds"; "the gate opens"; "goes on" ]
        (List.rev !log))

let () =
  run "Linear"
    [
      ( "case",
        [
          test "without it the file stays open" leaks;
          test "the handler drops" drops;
          test "the handler raises" drops_and_raises;
          test "the handler continues" continues;
          test "the handler discontinues" discontinues;
          test "the handler continues twice" resumes_twice;
          test "what unwinds performs" performs_again;
          test "what unwinds raises" raises_another;
          test "in a task that waits" below_a_host;
        ] );
    ]
