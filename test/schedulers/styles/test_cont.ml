(* Continuations alone, on which some styles are built. *)

open Concord_styles
open Concord_test_support
open Check
open Cont

exception Boom

let[@inline never] explode () = if true then raise Boom
let many = if instrumented then 10_000 else 1_000_000
let used_twice = Effect.Continuation_already_resumed

let in_run f =
  let result = ref None in
  run (fun () -> result := Some (f ()));
  Option.get !result

let returns () = int "callcc" 3 (in_run (fun () -> callcc (fun _ -> 3)))

let throws () =
  traced [ "finaliser" ] @@ fun say ->
  int "callcc" 3
    (in_run (fun () ->
         1
         + callcc (fun k ->
             Fun.protect
               ~finally:(fun () -> say "finaliser")
               (fun () -> 10 * throw k 2))))

let escapes () =
  let find p l =
    callcc (fun found ->
        List.iter (fun x -> if p x then throw found (Some x)) l;
        None)
  in
  yes "found" (in_run (fun () -> find (fun x -> x > 2) [ 1; 2; 3; 4 ]) = Some 3);
  yes "not found" (in_run (fun () -> find (fun x -> x > 9) [ 1; 2 ]) = None);
  int "to the outer one" 5
    (in_run (fun () ->
         callcc (fun outer -> 1 + callcc (fun _ -> throw outer 5))))

let exceptions () =
  raises "run" Boom (fun () -> run explode);
  raises_at "explode" (fun () -> run explode);
  raises "after callcc" Boom (fun () ->
      run (fun () ->
          callcc (fun _ -> ());
          explode ()));
  raises "throw_exn" Boom (fun () ->
      run (fun () -> callcc (fun k -> throw_exn k Boom)));
  int "caught around callcc" 1
    (in_run (fun () -> try callcc (fun k -> throw_exn k Boom) with Boom -> 1));
  int "raised in callcc" 1
    (in_run (fun () -> try callcc (fun _ -> raise Boom) with Boom -> 1))

let once () =
  let kept = ref None in
  raises "the second time" used_twice (fun () ->
      run (fun () ->
          callcc (fun k -> kept := Some k);
          throw (Option.get !kept) ()));
  raises "after run" used_twice (fun () ->
      run (fun () -> throw (Option.get !kept) ()))

let outside () =
  match callcc (fun _ -> ()) with
  | () -> Alcotest.fail "not refused"
  | exception Invalid_argument text ->
      yes "it says what to do" (contains text "Cont.run")

let fresh_ones () =
  traced [ "a"; "b" ] @@ fun say ->
  run (fun () ->
      say "a";
      throw (fresh (fun () -> say "b")) ());
  raises "with an exception" Boom (fun () ->
      run (fun () -> throw_exn (fresh ignore) Boom))

(* Two computations, each of which continues where the other one stopped. *)
let coroutines () =
  traced [ "a0"; "b0"; "a1"; "b1"; "a2"; "b2" ] @@ fun say ->
  let other = ref None in
  let switch () =
    callcc (fun k ->
        let next = Option.get !other in
        other := Some k;
        throw next ())
  in
  let side name () =
    for i = 0 to 2 do
      say (Printf.sprintf "%s%d" name i);
      switch ()
    done
  in
  run (fun () ->
      other := Some (fresh (side "b"));
      side "a" ())

let constant_stack () =
  let count = ref 0 in
  let rec go n k =
    if n > 0 then
      callcc (fun k' ->
          incr count;
          throw
            (fresh (fun () ->
                 go (n - 1) k;
                 throw k' ()))
            ())
    else throw k ()
  in
  run (fun () ->
      callcc (fun k ->
          for _ = 1 to many do
            callcc (fun k ->
                incr count;
                throw k ())
          done;
          throw k ()));
  run (fun () -> callcc (fun k -> go 1000 k));
  int "count" (many + 1000) !count

let tests =
  [
    test "it returns" returns;
    test "throw" throws;
    test "escapes" escapes;
    test "exceptions" exceptions;
    test "used once" once;
    test "outside of run" outside;
    test "fresh" fresh_ones;
    test "coroutines" coroutines;
    test "constant stack" constant_stack;
  ]

let () = Check.run "Cont" [ ("Cont", tests) ]
