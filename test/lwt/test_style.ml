(* Lwt's storage, after each operation in monadic style. *)

open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run

(* --- Sequence-associated storage ------------------------------------------ *)

let key : int Lwt.key = Lwt.new_key ()

let storage () =
  Concord_test_hosts.Waking.with_jobs Check.domain @@ fun start ->
  run @@ fun () ->
  let each (name, make) =
    let { Waits.wait; wake; _ } = make () in
    let other () = yes (name ^ ": outside") (Lwt.get key = None) in
    let p =
      Lwt.with_value key (Some 1) (fun () ->
          let* ok = wait () in
          yes name ok;
          yes (name ^ ": after the wait") (Lwt.get key = Some 1);
          Lwt.pause ())
    in
    other ();
    start wake;
    let+ () = p in
    other ()
  in
  Lwt_list.iter_s each Cases.monadic

let () =
  Check.run "Concord_lwt, style"
    [ ("style", [ test "storage is the same before and after" storage ]) ]
