(* Tests in child processes, which have their own loops and threads. *)

open Concord_test_support
open Check
open Support
module Fifo = Concord_fifo

let has_thread = Concord_aio__Readiness.has_thread

(* Runs the function in a new process, in which no poller was made before. *)
let in_child f =
  flush_all ();
  match Unix.fork () with
  | 0 ->
      let code =
        match f () with
        | () -> 0
        | exception e ->
            prerr_endline (Printexc.to_string e);
            1
      in
      Unix._exit code
  | child -> (
      match Unix.waitpid [] child with
      | _, WEXITED 0 -> ()
      | _ -> Alcotest.fail "the child failed")

let pass_through () =
  with_pipe @@ fun from to_ ->
  let before = waiting () in
  let join =
    thread (fun () ->
        eventually "it waits" (fun () -> waiting () > before);
        put to_ "child")
  in
  strings "in the child" [ "child" ] [ get from ];
  join ();
  temp (fun name ->
      let oc = Aio.open_out name in
      Aio.output_string oc "a line\n";
      Aio.close_out oc;
      strings "a file" [ "a line" ]
        [ Aio.with_open_in name (fun ic -> Aio.input_line ic) ])

(* The child also has the loop, and the task that waits. *)
let fork_in_run () =
  Aio.run @@ fun () ->
  with_pipe @@ fun from to_ ->
  let got = ref "" in
  let reader = Fifo.fork (fun () -> got := get from) in
  pass_through ();
  in_child pass_through;
  put to_ "parent";
  Fifo.join reader;
  strings "in the parent" [ "parent" ] [ !got ];
  Unix.close from;
  Unix.close to_

let fork_beside_the_thread () =
  in_child (fun () ->
      pass_through ();
      yes "a thread" (has_thread ());
      in_child (fun () ->
          no "none yet" (has_thread ());
          pass_through ();
          yes "another thread" (has_thread ())))

(* The child must not consume the notifications of the parent's loop. *)
let bells () =
  Aio.run @@ fun () ->
  with_pipe @@ fun from to_ ->
  flush_all ();
  match Unix.fork () with
  | 0 ->
      Unix.close to_;
      (try ignore (get from : string) with _ -> ());
      Unix._exit 0
  | child ->
      let ping = Concord.Mvar.create_empty ()
      and pong = Concord.Mvar.create_empty () in
      let n = 5000 in
      let join =
        thread (fun () ->
            for _ = 1 to n do
              Concord.Mvar.put pong (Concord.Mvar.take ping)
            done)
      in
      for i = 1 to n do
        Concord.Mvar.put ping i;
        if Concord.Mvar.take pong <> i then Alcotest.fail "another answer"
      done;
      join ();
      Unix.close to_;
      ignore (Unix.waitpid [] child : int * Unix.process_status);
      Unix.close from
