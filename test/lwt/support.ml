(* Helpers for the programs in this folder. *)

open Concord_test_support
open Check
open Lwt.Syntax

exception Boom

let sleeps p = Lwt.state p = Lwt.Sleep
let is_cancelled p = Lwt.state p = Lwt.Fail Lwt.Canceled

(* Lets all other tasks run. *)
let turns n = Lwt_list.iter_s Lwt.pause (List.init n ignore)

(* Checks that the promise is cancelled after a few turns. *)
let is_unwound what p =
  let* () = turns 5 in
  yes what (is_cancelled p);
  Lwt.return_unit

(* The exception must be the promise's failure, and must not be raised. *)
let fails what expected make =
  match make () with
  | exception e -> Alcotest.failf "%s raised %s" what (Printexc.to_string e)
  | p ->
      Lwt.try_bind
        (fun () -> p)
        (fun _ -> Alcotest.failf "%s has a value" what)
        (fun e ->
          yes
            (Printf.sprintf "%s: %s" what (Printexc.to_string e))
            (e = expected);
          Lwt.return_unit)
