(* Threads of each style use the poller's thread and the workers. Then nothing is left that
   could resume them, so a deadlock must be reported. It must not be reported as long as a task
   waits for a descriptor, or a worker works. This program has no other threads, so its
   watchdog is an alarm. *)

open Concord
open Concord_styles
open Styles_cases
module Aio = Concord_aio
module Blocking_threads = Concord_aio__Blocking_threads

let int what = Alcotest.(check int) what
let yes what actual = Alcotest.(check bool) what true actual

let test name f =
  Alcotest.test_case name `Quick @@ fun () ->
  ignore (Unix.alarm 50 : int);
  f ();
  ignore (Unix.alarm 0 : int)

(* If the loop finds a helper at work, it checks again after a second. *)
let soon_deadlock n f =
  let before = Unix.gettimeofday () in
  (match f () with
  | () -> Alcotest.fail "no deadlock was reported"
  | exception Deadlock left -> int "left" n left);
  yes "soon" (Unix.gettimeofday () -. before < 10.)

let with_pipe f =
  let from, to_ = Unix.pipe ~cloexec:true () in
  Fun.protect
    (fun () -> f from to_)
    ~finally:(fun () ->
      Aio.close from;
      Aio.close to_)

let byte fd = ignore (Unix.write_substring fd "x" 0 1 : int)

(* Runs [f told]. Another process writes to the descriptor some time after [told] was called,
   which this process can't know. It isn't started by a fork, because a program with a second
   domain can't fork. *)
let written_later to_ f =
  let hears, tells = Unix.pipe ~cloexec:true () in
  (* When it writes, [start] sleeps, and has checked for a deadlock. *)
  let script = "read told; sleep 0.02; printf x" in
  let child =
    Unix.create_process "sh" [| "sh"; "-c"; script |] hears to_ Unix.stderr
  in
  Fun.protect
    (fun () -> f (fun () -> ignore (Unix.write_substring tells "\n" 0 1 : int)))
    ~finally:(fun () ->
      Unix.close tells;
      Unix.close hears;
      ignore (Unix.waitpid [] child : int * Unix.process_status))

module Make (S : Style.S) = struct
  open S

  let run fs =
    List.iter spawn fs;
    start ()

  let box = Mvar.create_empty

  let waits m () =
    let* () = take m in
    return ()

  let wait_for from () = sync (Aio.readable_evt from)

  let write to_ () =
    let* () = yield () in
    byte to_;
    return ()

  (* A thread waits for the descriptor, is resumed, and then waits forever. *)
  let after_readiness () =
    with_pipe @@ fun from to_ ->
    let m = box () in
    soon_deadlock 1 (fun () ->
        run
          [
            (fun () ->
              let* () = wait_for from () in
              take m);
            write to_;
          ])

  let after_a_choice () =
    with_pipe @@ fun from _ ->
    let m = box () and n = box () in
    soon_deadlock 1 (fun () ->
        run
          [
            (fun () ->
              let* () =
                sync (Event.choose [ Aio.readable_evt from; Mvar.take_evt n ])
              in
              take m);
            (fun () ->
              let* () = yield () in
              put n ());
          ])

  let after_a_file () =
    let m = box () in
    let read () =
      Aio.with_open_in Sys.executable_name (fun ic ->
          ignore (Aio.input_char ic : char))
    in
    soon_deadlock 1 (fun () ->
        run
          [
            (fun () ->
              let* () = direct read in
              take m);
          ])

  let after_a_pause () =
    let m = box () in
    soon_deadlock 1 (fun () ->
        run
          [
            (fun () ->
              let* () = direct (fun () -> Aio.sleepf 0.001) in
              take m);
          ])

  (* The last running thread notifies the other process. *)
  let not_while what () =
    with_pipe @@ fun from to_ ->
    let m = box () in
    written_later to_ @@ fun told ->
    run
      [
        waits m;
        (fun () ->
          let* () = what from in
          put m ());
        (fun () ->
          let* () = yield () in
          told ();
          return ());
      ]

  let not_while_one_waits = not_while (fun from -> wait_for from ())

  let not_while_one_works =
    not_while (fun from ->
        direct (fun () ->
            Blocking_threads.run Files (fun () ->
                ignore (Unix.read from (Bytes.create 1) 0 1 : int))))

  (* The helper resumes a thread, and is idle before the loop checks. *)
  let at_the_last_moment () =
    for _ = 1 to 300 do
      run [ (fun () -> direct (fun () -> Blocking_threads.run Files ignore)) ]
    done

  let written_at_the_last_moment () =
    for _ = 1 to 100 do
      with_pipe @@ fun from to_ ->
      let other =
        Thread.create
          (fun () ->
            while Concord_aio__Readiness.waiting () = 0 do
              Thread.yield ()
            done;
            byte to_)
          ()
      in
      run [ wait_for from ];
      Thread.join other
    done

  let tests =
    [
      test "after readiness" after_readiness;
      test "after a choice" after_a_choice;
      test "after a file" after_a_file;
      test "after a pause" after_a_pause;
      test "no deadlock while a thread waits" not_while_one_waits;
      test "no deadlock while a worker works" not_while_one_works;
      test "a worker ends at the last moment" at_the_last_moment;
      test "a byte comes at the last moment" written_at_the_last_moment;
    ]
end

let suite (module S : Style.S) =
  let module Cases = Make (S) in
  (S.name, Cases.tests)

(* The poller's thread may still be at work when the promise is claimed. *)
let claimed () =
  for _ = 1 to 20 do
    with_pipe @@ fun from to_ ->
    let open Promise in
    byte to_;
    spawn (fun () -> sync (Aio.readable_evt from));
    start ();
    soon_deadlock 1 (fun () -> claim (blocked ()))
  done

(* The case with another domain comes last, because the domain adds a thread that stays. *)
let after_a_domain () =
  Domain.join (Domain.spawn ignore);
  let (module S : Style.S) = List.hd Style.all in
  let module Cases = Make (S) in
  Cases.after_readiness ();
  Cases.after_a_file ()

let () =
  let first = List.map suite Style.all in
  Alcotest.run "aio: deadlock"
    (first
    @ [
        ( "other",
          [
            test "a promise is claimed" claimed;
            test "after a domain" after_a_domain;
          ] );
      ])
