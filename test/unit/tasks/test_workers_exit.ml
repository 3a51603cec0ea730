(* A process exits, is killed, starts another program or tries to fork while its workers run.
   Each case is a process of its own, which this program starts with the name of the case. *)

open Concord
open Concord_test_support
open Check
open Workers

let rec forever () =
  Domain.cpu_relax ();
  forever ()

(* Calls [f w] once a job computes and another one waits. Neither ends. *)
let beside_jobs ?grace f =
  with_workers ~domains:2 ?grace @@ fun w ->
  let begun = Latch.create 2 in
  let begin_ f =
    ignore
      (submit w (fun () ->
           Latch.count_down begun;
           f ())
        : unit Promise.t)
  in
  begin_ forever;
  begin_ (fun () -> Promise.await (Promise.create ()));
  Latch.await begun;
  f w

let program = Sys.executable_name
let exec name = Unix.execv program [| program; name |]

let start name =
  Unix.create_process program [| program; name |] Unix.stdin Unix.stdout
    Unix.stderr

let fork () =
  match Unix.fork () with
  | 0 -> Unix._exit 9
  | (_ : int) -> Alcotest.fail "it forked"
  | exception Failure _ -> ()

exception Boom

let cases =
  [
    ("exit", 3, fun () -> beside_jobs (fun _ -> exit 3));
    ( "exit in a job",
      4,
      fun () -> beside_jobs (fun w -> run w (fun () -> exit 4)) );
    ( "exit in a job that has waited",
      5,
      fun () ->
        beside_jobs (fun w ->
            run w (fun () ->
                Tasks.yield ();
                exit 5)) );
    ( "exit in a task of Fifo",
      6,
      fun () -> Concord_fifo.run (fun () -> beside_jobs (fun _ -> exit 6)) );
    ("jobs are lost", 0, fun () -> beside_jobs ~grace:0.01 ignore);
    ( "a thread is left",
      0,
      fun () ->
        with_workers ~domains:1 ~grace:0.01 (fun w ->
            run w (fun () -> ignore (Thread.create forever () : Thread.t))) );
    ("an exception", 2, fun () -> beside_jobs ~grace:0.01 (fun _ -> raise Boom));
    ("exec", 7, fun () -> beside_jobs (fun _ -> exec "seven"));
    ( "exec in a job",
      7,
      fun () -> beside_jobs (fun w -> run w (fun () -> exec "seven")) );
    ("seven", 7, fun () -> exit 7);
    ( "a program that a job starts",
      0,
      fun () ->
        beside_jobs ~grace:0.01 (fun w ->
            let status =
              run w (fun () -> snd (Unix.waitpid [] (start "seven")))
            in
            yes "its code" (status = WEXITED 7)) );
    ( "fork",
      0,
      fun () ->
        beside_jobs ~grace:0.01 (fun w ->
            fork ();
            run w fork;
            int "the worker continues" 1 (run w (fun () -> 1))) );
  ]

let ends (name, code, _) =
  test name (fun () ->
      match snd (Unix.waitpid [] (start name)) with
      | WEXITED found -> int "code" code found
      | WSIGNALED n when n = Sys.sigalrm -> Alcotest.fail "it hangs"
      | WSIGNALED _ | WSTOPPED _ -> Alcotest.fail "it was killed")

let killed () =
  match snd (Unix.waitpid [] (start "killed")) with
  | WSIGNALED n -> yes "by the signal" (n = Sys.sigterm)
  | WEXITED _ | WSTOPPED _ -> Alcotest.fail "it has ended otherwise"

(* The signal reaches the first thread, because workers block it. *)
let kill () =
  beside_jobs (fun _ ->
      Unix.kill (Unix.getpid ()) Sys.sigterm;
      Promise.await (Promise.create ()))

let () =
  let cases = ("killed", 0, kill) :: cases in
  match Sys.argv with
  | [| _; name |] when List.exists (fun (n, _, _) -> n = name) cases ->
      ignore (Unix.alarm 30 : int);
      let _, _, f = List.find (fun (n, _, _) -> n = name) cases in
      f ()
  | _ ->
      Check.run "Workers, when the process ends"
        [ ("ends", test "a signal" killed :: List.map ends (List.tl cases)) ]
