(* What the programs here share. *)

open Concord_test_support
open Check
open Lwt.Syntax

let is_cancelled p = Lwt.state p = Lwt.Fail Lwt.Canceled

(* Lets all others go on. *)
let turns n = Lwt_list.iter_s Lwt.pause (List.init n ignore)

(* Cancelled, in a while. *)
let is_unwound what p =
  let* () = turns 5 in
  yes what (is_cancelled p);
  Lwt.return_unit
