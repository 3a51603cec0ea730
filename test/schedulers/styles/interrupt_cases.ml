(* A signal handler raises at any moment. Either [start] raises the exception, or it came while
   no thread of the set ran. In each case the set is over. *)

open Concord
open Concord_test_support
open Check

exception Interrupted

module Make (S : Style.S) = struct
  open S

  let work m count () =
    let rec reader n () =
      if n = 0 then return ()
      else
        let* i = take m in
        incr count;
        ignore (i : int);
        reader (n - 1) ()
    and writer n () =
      if n = 0 then return ()
      else
        let* () = put m n in
        let* () = yield () in
        writer (n - 1) ()
    in
    spawn (reader 20);
    spawn (writer 20);
    spawn (fun () ->
        direct (fun () ->
            for _ = 1 to 5 do
              Concord.Tasks.yield ()
            done));
    start ()

  let interrupted () =
    let count = ref 0 and others = ref [] and sets = ref 0 in
    let until = Unix.gettimeofday () +. 0.5 in
    let f () =
      incr sets;
      begin match work (Mvar.create_empty ()) (ref 0) () with
      | () -> ()
      | exception Interrupted -> incr count
      (* It left a [Fun.protect] of [Domain_local_await]. *)
      | exception Fun.Finally_raised Interrupted -> incr count
      | exception e -> others := Printexc.to_string e :: !others
      end;
      (* Removes threads that were spawned for a set that was not started. They would wait in the
         next set, and a thread that sleeps handles no signal. *)
      stop_outside ()
    in
    while Unix.gettimeofday () < until do
      Interrupting.run ~by:Interrupted ~count f
    done;
    strings "other exceptions" [] (List.sort_uniq compare !others);
    yes "interrupted" (!count > 0)

  let cases = [ test "a signal handler raises" interrupted ]
end
