(* Direct style in tasks of Lwt_direct, and beside other hosts. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

let until what condition =
  let deadline = Unix.gettimeofday () +. 20. in
  let rec look () =
    if condition () then Lwt.return_unit
    else if Unix.gettimeofday () > deadline then
      Alcotest.failf "it never happened: %s" what
    else Lwt.bind (Lwt.pause ()) look
  in
  look ()

(* --- Tasks of Lwt_direct -------------------------------------------------- *)

let kcas () =
  run @@ fun () ->
  let loc = Kcas.Loc.make 0 in
  let positive ~xt =
    match Kcas.Xt.get ~xt loc with 0 -> Kcas.Retry.later () | n -> n
  in
  let asked = Atomic.make false in
  let p =
    Lwt_direct.spawn (fun () ->
        Atomic.set asked true;
        Kcas.Xt.commit { tx = positive })
  in
  let* () = until "it began" (fun () -> Atomic.get asked) in
  let* () = turns 10 in
  yes "it waits" (Lwt.state p = Lwt.Sleep);
  Check.in_domain (fun () -> Kcas.Loc.set loc 3);
  let+ v = p in
  int "the value" 3 v

(* --- Hosts in hosts ------------------------------------------------------- *)

(* Concord_lwt.run runs on another host. It blocks that host's other tasks, as any loop does,
   but its own tasks can wait. *)
let exchange () =
  run @@ fun () ->
  let box = Mvar.create_empty () and back = Mvar.create_empty () in
  let task = Lwt_direct.spawn (fun () -> Mvar.put back (1 + Mvar.take box)) in
  let refused = ref false in
  let callback =
    let+ () = Lwt.pause () in
    match Mvar.take back with
    | (_ : int) -> ()
    | exception Concord_lwt.In_callback -> refused := true
  in
  let* () = callback in
  yes "refused in a callback" !refused;
  let join = Check.domain (fun () -> Mvar.put box 1) in
  let* v = Concord_lwt.Mvar.take back in
  int "the value" 2 v;
  join ();
  task

let in_fifo () =
  Concord_fifo.run (fun () ->
      Concord_fifo.join (Concord_fifo.fork exchange);
      (* Here Fifo is the host again. *)
      let box = Mvar.create_empty () in
      let task = Concord_fifo.fork (fun () -> Mvar.take box) in
      Mvar.put box ();
      Concord_fifo.join task)

let in_eio () = Eio_main.run (fun _ -> exchange ())
let beside_eio () = Eio_main.run @@ fun _ -> Eio_unix.run_in_systhread exchange

let () =
  Check.run "Concord_lwt, direct style"
    [
      Wait_cases.on (Lwt_hosts.lwt_direct run);
      (* [Test_cancel] has what a cancelled promise does. *)
      Wait_cases.on { (Lwt_hosts.promises run) with cancel = None };
      ("Lwt_direct", [ test "Kcas" kcas ]);
      ( "hosts in hosts",
        [
          test "run in Fifo" in_fifo;
          test "run in Eio" in_eio;
          test "run in a thread beside Eio" beside_eio;
        ] );
    ]
