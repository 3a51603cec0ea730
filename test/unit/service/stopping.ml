(* The parent of a service, which stops it with a signal. *)

open Concord_test_support
open Check

type child = { pid : int; output : in_channel }

let with_child program role host f =
  let to_read, to_write = Unix.pipe ~cloexec:true () in
  let pid =
    Unix.create_process program [| program; role; host |] Unix.stdin to_write
      Unix.stderr
  in
  Unix.close to_write;
  let output = Unix.in_channel_of_descr to_read in
  Fun.protect
    ~finally:(fun () ->
      (* The child has ended unless the test fails. *)
      (try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> ());
      close_in output)
    (fun () -> f { pid; output })

let says child text =
  Alcotest.(check (option string))
    "it says" (Some text)
    (In_channel.input_line child.output)

let send child signal = Unix.kill child.pid signal

let rec status child =
  match Unix.waitpid [] child.pid with
  | _, status -> status
  | exception Unix.Unix_error (EINTR, _, _) -> status child

let ends child = yes "it ends with 0" (status child = WEXITED 0)

let stops program role host () =
  with_child program role host @@ fun child ->
  says child "ready";
  send child Sys.sigterm;
  says child "SIGTERM";
  ends child

let by_the_second program host () =
  with_child program "parked" host @@ fun child ->
  says child "ready";
  send child Sys.sigint;
  says child "SIGINT";
  ends child

let twice program host () =
  with_child program "stuck" host @@ fun child ->
  says child "ready";
  send child Sys.sigterm;
  says child "SIGTERM";
  send child Sys.sigterm;
  yes "the second one ends it" (status child = WSIGNALED Sys.sigterm)

let leaves program host () = with_child program "leaves" host ends

let watches program host () =
  with_child program "watches" host @@ fun child ->
  says child "ready";
  for n = 1 to 10 do
    send child Sys.sighup;
    says child (string_of_int n)
  done;
  send child Sys.sigterm;
  says child "SIGTERM";
  ends child

let shutdown program host () =
  with_child program "shutdown" host @@ fun child ->
  says child "ready";
  send child Sys.sigterm;
  List.iter (says child) [ "closing"; "last"; "drained" ];
  ends child

(* The moment is random, and nothing depends on it. *)
let at_any_moment program host () =
  for _ = 1 to 20 do
    with_child program "busy" host @@ fun child ->
    says child "ready";
    Unix.sleepf (Random.float 0.003);
    send child Sys.sigterm;
    says child "SIGTERM";
    ends child
  done

let cases program host =
  ( host,
    [
      test "all threads wait" (stops program "parked" host);
      test "several threads wait" (stops program "crowd" host);
      test "another signal of the list" (by_the_second program host);
      test "a second signal" (twice program host);
      test "the program ends first" (leaves program host);
      test "every SIGHUP" (watches program host);
      test "drained" (shutdown program host);
      test "at any moment" (at_any_moment program host);
    ] )
