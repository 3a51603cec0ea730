(* Lwt may run in one thread after the other, with [Concord_lwt.run] and without it. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let plain f = Lwt_main.run (f ())
let here f = f ()

(* Waits, and a domain wakes it, both before the loop's first turn and after it. *)
let exchange () =
  let there = Channel.create () and back = Mvar.create_empty () in
  let join =
    Check.domain (fun () ->
        for i = 1 to 3 do
          Channel.send there i
        done;
        Mvar.put back (Channel.receive there))
  in
  let receive () = Concord_lwt.Channel.receive there in
  let first = receive () in
  let* a = first in
  let* b = receive () in
  let* () = Lwt.pause () in
  let* c = receive () in
  let* () = Concord_lwt.Channel.send there (a + b + c) in
  let* sum = Concord_lwt.Mvar.take back in
  join ();
  int "the sum" 6 sum;
  Lwt.return_unit

let once run () = run exchange

(* A task of [Lwt_direct] continues in a hook that comes before all others. It must be the
   first such task of the program, in the second loop. If it fulfilled the last promise there,
   Lwt's loop would sleep once more, so a pause follows. *)
let lwt_direct () =
  in_thread (once plain);
  in_thread (fun () ->
      plain (fun () ->
          let task =
            Lwt_direct.spawn (fun () -> Lwt_direct.await (exchange ()))
          in
          Lwt.bind task Lwt.pause));
  once plain ()

let both = [ ("Lwt_main.run", plain); ("Concord_lwt.run", Concord_lwt.run) ]

let places =
  [ ("here", here); ("a thread", in_thread); ("a domain", in_domain) ]

(* Each of the two loops in each place, after each of the two in each place. *)
let one_after_the_other () =
  List.iter
    (fun (_, first) ->
      List.iter
        (fun (_, place) ->
          List.iter
            (fun (_, second) ->
              List.iter
                (fun (_, other) ->
                  place (once first);
                  other (once second))
                places)
            both)
        places)
    both

(* The thread that asks for a promise may be another one than the thread that runs the loop. *)
let used_before () =
  let lwt, waker = Lwt.wait () in
  let promise = Concord_lwt.of_lwt lwt in
  let box = Mvar.create_empty () in
  let taken = Concord_lwt.Mvar.take box in
  in_thread (once plain);
  in_domain (once Concord_lwt.run);
  Mvar.put box 1;
  in_thread (fun () ->
      int "begun in another thread" 1 (Lwt_main.run taken);
      Lwt.wakeup waker 2;
      int "of_lwt" 2 (Promise.await promise))

(* This is also true after a failure. *)
let after_a_failure () =
  in_thread (fun () ->
      raises "what it raises" Exit (fun () ->
          Concord_lwt.run (fun () -> raise Exit));
      raises "what fails" Exit (fun () -> plain (fun () -> Lwt.fail Exit)));
  in_domain (once plain)

let is_refused f =
  match f () with
  | exception Invalid_argument m -> contains m "another thread runs Lwt's loop"
  | _ -> false

(* While a loop runs, other threads are refused, even if the loop hasn't used Concord_lwt. *)
let beside_a_loop run () =
  let box : int Mvar.t = Mvar.create_empty () in
  let never, _ = Lwt.wait () in
  let attempts () =
    [
      is_refused (fun () -> Concord_lwt.Mvar.take box);
      is_refused (fun () -> Concord_lwt.direct (fun () -> Mvar.take box));
      is_refused (fun () ->
          ignore (Concord_lwt.of_lwt never : unit Promise.t);
          Lwt.return 0);
    ]
  in
  run (fun () ->
      let* () = Lwt.pause () in
      yes "a thread" (List.for_all Fun.id (in_thread attempts));
      yes "a domain" (List.for_all Fun.id (in_domain attempts));
      int "no task waits" 0 (Mvar.waiters box);
      exchange ())

let () =
  Check.run "Concord_lwt, threads"
    [
      ( "one loop after the other",
        [
          (* must come first *)
          test "Lwt_direct" lwt_direct;
          test "anywhere" one_after_the_other;
          test "used before, in another thread" used_before;
          test "after a failure" after_a_failure;
        ] );
      ( "beside a loop",
        List.map
          (fun (name, run) ->
            test (name ^ ": refused") (fun () ->
                beside_a_loop run ();
                in_thread (beside_a_loop run);
                in_domain (beside_a_loop run)))
          both );
    ]
