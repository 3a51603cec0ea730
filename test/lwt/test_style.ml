(* Lwt's storage. [test_storage] has what code in direct style binds. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run
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

(* [Lwt.with_value] ends when [direct] returns, not when its code has ended. *)
let storage_of_direct () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let inside () =
    Lwt.with_value key (Some 1) (fun () ->
        let v = Mvar.take box in
        (v, Lwt.get key))
  in
  let p = Concord_lwt.direct inside in
  yes "outside" (Lwt.get key = None);
  let* () = Concord_lwt.Mvar.put box 2 in
  let+ result = p in
  yes "inside" (result = (2, Some 1))

let () =
  Check.run "Concord_lwt, style"
    [
      ( "style",
        [
          test "storage is the same before and after" storage;
          test "storage of direct" storage_of_direct;
        ] );
    ]
