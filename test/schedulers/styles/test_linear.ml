(* A handler drops its continuation while the computation has a file open. *)

open Concord
open Concord_test_support
open Check
open Effect.Deep
module Linear = Concord_styles.Linear

type _ Effect.t += E : unit Effect.t

let opened = ref Unix.stdin

let is_open fd =
  match Unix.fstat fd with
  | _ -> true
  | exception Unix.Unix_error (EBADF, _, _) -> false

(* The program of the slides. *)
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

let drops_it () =
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
        (try foo () with Linear.Dropped _ -> incr steps);
        incr steps)
  in
  handled (Linear.case (fun _ -> ())) body ();
  Alcotest.(check int) "both were dropped" 2 !steps

let raises_another () =
  let body () = try foo () with Linear.Dropped _ -> raise Not_found in
  match handled (Linear.case (fun _ -> ())) body () with
  | () -> Alcotest.fail "what it raised was lost"
  | exception Not_found -> ()

(* The handler's exception isn't lost if the computation raises too. *)
let both_raise () =
  let body () = try foo () with Linear.Dropped _ -> raise Not_found in
  match handled (Linear.case (fun _ -> raise Exit)) body () with
  | () -> Alcotest.fail "the handler raised"
  | exception Exit -> ()

(* [Fun.protect] wraps the exception of its finaliser, but the exception inside is the same. *)
let finaliser_is_dropped () =
  let closed = ref 0 in
  let body () =
    Fun.protect
      ~finally:(fun () -> incr closed)
      (fun () ->
        Fun.protect ~finally:foo (fun () -> Fun.protect ~finally:foo foo))
  in
  handled (Linear.case (fun _ -> ())) body ();
  Alcotest.(check int) "what was opened is closed" 1 !closed

(* This is a fault of the computation itself, not the handler's answer. *)
let resumes_another_twice () =
  let kept = ref None in
  let keep k = kept := Some (k : (unit, unit) continuation) in
  handled keep foo ();
  let k = Option.get !kept in
  continue k ();
  let body () = try foo () with Linear.Dropped _ -> continue k () in
  match handled (Linear.case (fun _ -> ())) body () with
  | () -> Alcotest.fail "the fault was lost"
  | exception Effect.Continuation_already_resumed -> ()

type _ Effect.t += Outer : unit Effect.t

let in_outer handle f =
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | Outer -> Some (fun k -> handle (k : (unit, _) continuation))
    | _ -> None
  in
  try_with f () { effc }

(* The inner handler performs an effect while it holds the inner continuation. *)
let nested log answer () =
  let note what = log := what :: !log in
  let body () =
    Fun.protect foo ~finally:(fun () -> note "the inner one is closed")
  in
  let handle k =
    Effect.perform Outer;
    answer k
  in
  Fun.protect
    (fun () -> handled (Linear.case handle) body ())
    ~finally:(fun () -> note "the outer one is closed")

let both_closed = [ "the inner one is closed"; "the outer one is closed" ]

let outer_drops () =
  let log = ref [] in
  in_outer (Linear.case (fun _ -> ())) (nested log (fun k -> continue k ()));
  Alcotest.(check (list string)) "in this order" both_closed (List.rev !log)

(* A scheduler keeps the part above it, so nothing was dropped. *)
let outer_keeps answer () =
  let log = ref [] and kept = ref None in
  in_outer (fun k -> kept := Some k) (nested log answer);
  Alcotest.(check (list string)) "nothing is closed" [] !log;
  continue (Option.get !kept) ();
  Alcotest.(check (list string))
    "each is closed once" both_closed (List.rev !log)

let drops (_ : (unit, unit) continuation) = ()

(* The interface describes this behaviour. *)
let kept_against_the_rules () =
  let kept = ref None in
  handled (Linear.case (fun k -> kept := Some k)) bar ();
  yes "the file is closed" (not (is_open !opened));
  match continue (Option.get !kept) () with
  | () -> Alcotest.fail "it continued"
  | exception Effect.Continuation_already_resumed -> ()

(* One case may keep some continuations, and drop others. *)
let keeps_or_drops () =
  let kept = ref None in
  let handle keep k = if keep then kept := Some k else Linear.drop k in
  handled (handle false) bar ();
  yes "dropped: the file is closed" (not (is_open !opened));
  handled (handle true) bar ();
  yes "kept: the file is open" (is_open !opened);
  continue (Option.get !kept) ();
  yes "the file is closed in the end" (not (is_open !opened));
  Linear.drop (Option.get !kept)

(* While the inner computation unwinds, its finaliser performs an effect. An outer handler
   drops it. The code around the inner handler must not continue. *)
let outer_drops_finaliser () =
  let went_on = ref false and closed = ref false in
  let body () = Fun.protect foo ~finally:(fun () -> Effect.perform Outer) in
  let inner () =
    Fun.protect
      ~finally:(fun () -> closed := true)
      (fun () ->
        handled (Linear.case (fun _ -> ())) body ();
        went_on := true)
  in
  in_outer (Linear.case (fun _ -> ())) inner;
  yes "it is closed" !closed;
  no "it continued" !went_on

(* On the way, the task waits in the scheduler around the handler. *)
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
                   Tasks.yield ();
                   note "drops"))
              body ();
            note "goes on")
      in
      Tasks.yield ();
      Tasks.yield ();
      note "the gate opens";
      Latch.count_down gate;
      Concord_fifo.join task;
      Alcotest.(check (list string))
        "in this order"
        [ "drops"; "unwinds"; "the gate opens"; "goes on" ]
        (List.rev !log))

(* The printed name is one that a program can write. *)
let is_printed () =
  let printed = ref "" in
  let body () =
    try foo () with Linear.Dropped _ as e -> printed := Printexc.to_string e
  in
  handled (Linear.case (fun _ -> ())) body ();
  Alcotest.(check string) "by its name" "Concord_styles.Linear.Dropped" !printed

let () =
  run "Linear"
    [
      ( "case",
        [
          test "without it the file stays open" leaks;
          test "the handler drops" drops_it;
          test "the handler raises" drops_and_raises;
          test "the handler continues" continues;
          test "the handler discontinues" discontinues;
          test "the handler continues twice" resumes_twice;
          test "the unwinding code performs" performs_again;
          test "the unwinding code raises" raises_another;
          test "both raise" both_raise;
          test "a finaliser is dropped" finaliser_is_dropped;
          test "the computation resumes another twice" resumes_another_twice;
          test "a handler around it drops" outer_drops;
          test "a handler around it keeps, then continues"
            (outer_keeps (fun k -> continue k ()));
          test "a handler around it keeps, then drops" (outer_keeps drops);
          test "a handler around it drops a finaliser" outer_drops_finaliser;
          test "kept, against the rules" kept_against_the_rules;
          test "keeps or drops" keeps_or_drops;
          test "in a task that waits" below_a_host;
          test "is printed" is_printed;
        ] );
    ]
