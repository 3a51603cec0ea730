(* Everything that a set shares with other domains, for ThreadSanitizer. This is values from
   there, how a set sleeps and is woken, two sets at once, and the end of a set while another
   domain resumes its threads. *)

open Concord
open Concord_test_support
open Check
open Styles_cases

let messages = 300

module Cases (S : Style.S) = struct
  open S

  let rec forward n inp out =
    if n = 0 then return ()
    else
      let* v = take inp in
      let* () = put out (v + 1) in
      forward (n - 1) inp out

  (* Two threads of a set pass values between two boxes that another domain uses. *)
  let echo () =
    let there = Mvar.create_empty () and back = Mvar.create_empty () in
    let middle = Mvar.create_empty () in
    let join =
      domain (fun () ->
          for i = 1 to messages do
            Mvar.put there i;
            int "echo" (i + 2) (Mvar.take back)
          done)
    in
    spawn (fun () -> forward messages there middle);
    spawn (fun () -> forward messages middle back);
    start ();
    join ()

  (* Each set has its own domain. *)
  let two_sets () =
    let there = Mvar.create_empty () and back = Mvar.create_empty () in
    let join =
      domain (fun () ->
          spawn (fun () -> forward messages there back);
          start ())
    in
    spawn (fun () ->
        let rec go i =
          if i > messages then return ()
          else
            let* () = put there i in
            let* v = take back in
            int "the other set's" (i + 1) v;
            go (i + 1)
        in
        go 1);
    start ();
    join ()

  (* Each value is in the box, or a thread has taken it. *)
  let stop_meanwhile () =
    for _ = 1 to 20 do
      let box = Mvar.create_empty () and taken = ref 0 in
      let go_on = Promise.create () in
      let join =
        domain (fun () ->
            Promise.await go_on;
            Mvar.put box 1)
      in
      spawn (fun () ->
          let* v = take box in
          taken := v;
          return ());
      spawn (fun () ->
          Promise.fill go_on ();
          let* () = yield () in
          stop ());
      start ();
      join ();
      let left = Option.value ~default:0 (Mvar.try_take box) in
      int "taken or left" 1 (!taken + left)
    done

  (* ThreadSanitizer crashes when an exception passes a function that was applied to more
     arguments than it has. OCaml's instrumentation (5.4.1) miscounts the calls then. *)
  let miscounts = instrumented && name = "Continuation"

  let suite =
    ( name,
      [ test "echo" echo; test "two sets" two_sets ]
      @ if miscounts then [] else [ test "stop meanwhile" stop_meanwhile ] )
end

let suite (module S : Style.S) =
  let module Cases = Cases (S) in
  Cases.suite

let () = run "Styles on domains" (List.map suite Style.all)
