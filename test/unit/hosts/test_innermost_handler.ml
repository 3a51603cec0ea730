(* Finds the innermost effect handler around the caller, and compares it with the installed
   ones. *)

open Concord_test_support
open Check
open Effect.Deep
module Innermost_handler = Concord_stub.Innermost_handler

type _ Effect.t += Get : (unit -> unit) -> unit Effect.t

(* Handles [Get] by calling its function outside the handler, where a scheduler would run. *)
let handler : (unit, unit) handler =
  {
    retc = Fun.id;
    exnc = raise;
    effc =
      (fun (type a)
        (e : a Effect.t)
        :
        ((a, unit) continuation -> unit) option
      ->
        match e with
        | Get f ->
            Some
              (fun k ->
                f ();
                continue k ())
        | _ -> None);
  }

let handled f = match_with f () handler

(* Passes all effects on. *)
let passed f =
  match_with f ()
    {
      retc = (fun () -> ());
      exnc = (fun e -> raise e);
      effc = (fun (type a) (_ : a Effect.t) -> None);
    }

let within f =
  let result = ref None in
  f (fun () -> result := Some (Innermost_handler.get ()));
  Option.get !result

let is_innermost handler = Innermost_handler.nothing_but handler

let told_apart () =
  let one = within handled and other = within passed in
  handled (fun () ->
      yes "another stack of the same" (is_innermost one);
      no "that of others" (is_innermost other);
      passed (fun () ->
          yes "the innermost" (is_innermost other);
          no "the one around it" (is_innermost one));
      yes "as before" (is_innermost one));
  yes "none at all" (is_innermost one)

let passing_on : type a. a Effect.t -> ((a, unit) continuation -> unit) option =
 fun _ -> None

(* One expression installs several handlers, so these share the functions by which they are
   told apart. *)
let installed (h : (unit, unit) handler) f =
  match_with f () { h with retc = (fun v -> v); exnc = (fun e -> raise e) }

let sharing = installed handler
let sharing_too = installed { retc = Fun.id; exnc = raise; effc = passing_on }

let in_place f =
  match_with f ()
    { retc = (fun v -> v); exnc = (fun e -> raise e); effc = passing_on }

let in_place_too f =
  match_with f ()
    { retc = (fun v -> v); exnc = (fun e -> raise e); effc = passing_on }

(* The page on Eio asks users to write these functions in place, because shared ones make
   two handlers look like one. *)
let their_functions () =
  let shared = within sharing and own = within in_place in
  sharing_too (fun () -> yes "shared: taken for one" (is_innermost shared));
  in_place_too (fun () ->
      no "in place, the same text: distinguished" (is_innermost own);
      no "from the others" (is_innermost shared));
  in_place (fun () -> yes "itself" (is_innermost own))

let alone () =
  let one = within handled and other = within passed in
  let is_alone = Innermost_handler.alone in
  in_thread (fun () ->
      yes "none at all" (is_alone one);
      handled (fun () ->
          yes "the only one" (is_alone one);
          no "another one" (is_alone other);
          handled (fun () -> no "one around it" (is_alone one));
          passed (fun () -> no "another one around it" (is_alone other))))

let continued () =
  let one = within handled in
  handled (fun () ->
      passed (fun () -> Effect.perform (Get ignore));
      Effect.perform
        (Get (fun () -> yes "none outside" Innermost_handler.(get () == none)));
      yes "inside again" (is_innermost one);
      Gc.full_major ();
      yes "after a collection" (is_innermost one))

let shared () =
  try_with
    (fun () -> yes "none" Innermost_handler.(get () == none))
    ()
    { effc = (fun (type a) (_ : a Effect.t) -> None) }

let nowhere () =
  yes "a first stack" (in_thread (fun () -> Innermost_handler.(get () == none)));
  yes "a domain's" (in_domain (fun () -> Innermost_handler.(get () == none)))

(* The runtime calls a signal handler from C. No effect handler around it may be found from
   there. *)
let below_a_callback () =
  let one = within handled and other = within passed in
  let told = ref [] in
  let see _ =
    told := (is_innermost other, Innermost_handler.(get () == none)) :: !told
  in
  let before = Sys.signal Sys.sigusr1 (Signal_handle see) in
  handled (fun () ->
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      eventually "the handler has run" (fun () -> !told <> []);
      yes "and this one still is" (is_innermost one);
      no "not the other" (is_innermost other));
  Sys.set_signal Sys.sigusr1 before;
  Alcotest.(check (list (pair bool bool))) "none there" [ (true, true) ] !told

let whose () =
  let asked = ref [] in
  let ask () =
    let around = Innermost_handler.around () in
    Effect.perform
      (Get (fun () -> asked := (Innermost_handler.here () = around) :: !asked))
  in
  handled (fun () ->
      ask ();
      passed ask;
      ask ());
  Alcotest.(check (list bool)) "its own" [ true; false; true ] !asked

let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)

(* The stack moves when it grows, and other stacks get its old address. *)
let grown () =
  handled (fun () ->
      let before = Innermost_handler.here () in
      int "depth" 30_000 (deep 30_000);
      yes "the same" (Innermost_handler.here () = before);
      for _ = 1 to 100 do
        handled (fun () ->
            no "another one" (Innermost_handler.here () = before);
            yes "around it" (Innermost_handler.around () = before))
      done)

(* The program checks its stub in this way when it starts. Each fault must be found. *)
let checked () =
  let open Innermost_handler in
  let caught what stub = no what (check stub) in
  yes "the stub" (check stub);
  caught "it finds no handler" { stub with get = (fun () -> none) };
  caught "all are the innermost" { stub with nothing_but = (fun _ -> true) };
  caught "none is the innermost" { stub with nothing_but = (fun _ -> false) };
  caught "all are alone" { stub with alone = (fun _ -> true) };
  caught "another stack" { stub with here = stub.around };
  let handler = stub.get () and stack = stub.here () in
  caught "always the same handler" { stub with get = (fun () -> handler) };
  caught "always the same stack"
    { stub with here = (fun () -> stack); around = (fun () -> stack) }

(* With an unknown version of OCaml the stub gives no answer. [test_unreadable] tests that. *)
let test name f =
  test name (fun () ->
      if Innermost_handler.is_readable () then f () else Alcotest.skip ())

let () =
  run "The innermost handler"
    [
      ( "which",
        [
          test "distinguished by their code" told_apart;
          test "functions that are shared, or written in place" their_functions;
          test "the only one" alone;
          test "after it was suspended" continued;
          test "none if they share their functions" shared;
          test "none on the first stack" nowhere;
          test "none below a callback from C" below_a_callback;
        ] );
      ( "whose",
        [
          test "of the handler" whose;
          test "of a stack that has grown" grown;
          test "checked at the start" checked;
        ] );
    ]
