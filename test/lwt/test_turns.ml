(* Tasks whose operations never wait don't stop Lwt's loop. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
module L = Concord_lwt

let run = Concord_lwt.run

module Ready = Promise_ready.Make (In_lwt.Library)
open Ready

(* The fault as it was found. [Lwt_main.run] does nothing else, and its loop hasn't been used
   before. A domain keeps the mailbox from becoming empty. *)
let kept_full () =
  let mailbox = Mailbox.create () and over = Atomic.make false in
  let fill () =
    while not (Atomic.get over) do
      if Mailbox.length mailbox < 100_000 then Mailbox.add mailbox ()
      else Domain.cpu_relax ()
    done
  in
  let join = Check.domain fill in
  let ticking, ticked = ticks 3 in
  (* Using an item takes longer than putting one. *)
  let take () =
    for _ = 1 to 200 do
      Domain.cpu_relax ()
    done;
    L.Mailbox.take mailbox
  in
  eventually "it is full" (fun () -> Mailbox.length mailbox > 1_000);
  let consume = again "a full mailbox" take ticked in
  Lwt_main.run (Lwt.join [ ticking; consume ]);
  Atomic.set over true;
  join ()

(* The task is cancelled where it lets others run, and has taken nothing there. *)
let is_cancelled_there () =
  let each (name, operation) =
    let deadline = Unix.gettimeofday () +. patience in
    let over = ref false in
    let rec forever () =
      if !over then Alcotest.failf "%s continues" name
      else if Unix.gettimeofday () > deadline then
        Alcotest.failf "%s stops the loop" name
      else Lwt.bind (operation ()) forever
    in
    let p = forever () in
    let* () = Lwt.pick [ p; Lwt_unix.sleep 0.0002 ] in
    over := true;
    yes name (Lwt.state p = Lwt.Fail Lwt.Canceled);
    Lwt.return_unit
  in
  run (fun () -> Lwt_list.iter_s each (operations ()))

let in_order () =
  run @@ fun () ->
  let n = 5_000 in
  let mailbox = Mailbox.create () in
  for i = 0 to n - 1 do
    Mailbox.add mailbox i
  done;
  let got = ref [] in
  let take _ =
    let+ i = L.Mailbox.take mailbox in
    got := i :: !got
  in
  let* () = Lwt.join (List.init n take) in
  yes "in order" (List.rev !got = List.init n Fun.id);
  Lwt.return_unit

(* In another thread, operations are performed at once, however many there are. *)
let elsewhere () =
  run @@ fun () ->
  let* () = Lwt.pause () in
  let full = Mvar.create 1 in
  let all_at_once () =
    List.for_all
      (fun _ -> Lwt.state (L.Mvar.read full) = Lwt.Return 1)
      (List.init 5_000 ignore)
  in
  yes "in a thread" (in_thread all_at_once);
  yes "in a domain" (in_domain all_at_once);
  Lwt.return_unit

let () =
  Check.run "Concord_lwt, turns"
    [
      ( "operations that never wait",
        [
          (* must come first *)
          test "a mailbox that a domain keeps full" kept_full;
          test "each lets others run" Ready.others_continue;
          test "each is cancelled where it lets others run" is_cancelled_there;
          test "in order" in_order;
          test "in other threads" elsewhere;
        ] );
    ]
