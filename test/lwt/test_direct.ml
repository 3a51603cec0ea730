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

let key : int Lwt.key = Lwt.new_key ()

let storage () =
  let each (name, make) =
    let { Waits.wait; waiters; wake; _ } = make () in
    let lwt = Thread.id (Thread.self ()) in
    let p =
      Lwt_direct.spawn (fun () ->
          Lwt_direct.Storage.set key 1;
          let ok = wait () in
          yes (name ^ ": the storage") (Lwt_direct.Storage.get key = Some 1);
          int (name ^ ": the thread") lwt (Thread.id (Thread.self ()));
          ok)
    in
    let* () = until (name ^ " waits") (fun () -> waiters () = 1) in
    wake ();
    let+ ok = p in
    yes (name ^ ": its value") ok
  in
  run (fun () -> Lwt_list.iter_s each Cases.direct)

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

(* A task fulfils the last promise, and then the loop must not sleep again. If it did, it would
   sleep for almost a minute, after which the watchdog kills this test. *)
let last_promise () =
  let box = Mvar.create_empty () in
  for _ = 1 to 100 do
    let join = Check.domain (fun () -> Mvar.put box ()) in
    run (fun () -> Lwt_direct.spawn (fun () -> Mvar.take box));
    join ()
  done;
  let start = Unix.gettimeofday () in
  run (fun () -> Lwt_direct.spawn ignore);
  yes "at once" (Unix.gettimeofday () -. start < 30.)

(* Both styles and a domain use one structure. *)
let mixed () =
  let n = 2_000 in
  let s = Stream.create 3 and sum = ref 0 in
  let join =
    Check.domain (fun () ->
        Concord_fifo.run (fun () ->
            for i = 1 to n do
              Stream.add s i
            done))
  in
  run (fun () ->
      let rec take_monadic n =
        if n = 0 then Lwt.return_unit
        else
          let* v = Concord_lwt.Stream.take s in
          sum := !sum + v;
          take_monadic (n - 1)
      in
      let take_direct n =
        Lwt_direct.spawn (fun () ->
            for _ = 1 to n do
              let v = Stream.take s in
              sum := !sum + v
            done)
      in
      Lwt.join [ take_monadic (n / 2); take_direct (n / 2) ]);
  join ();
  int "the sum" (n * (n + 1) / 2) !sum

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

(* Fifo's loop in [direct] waits as the task does, so Lwt's loop runs. *)
let around_fifo start () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let p = start (fun () -> Concord_fifo.run (fun () -> Mvar.take box)) in
  let* () = until "it waits" (fun () -> Mvar.waiters box = 1) in
  let* () = turns 3 in
  yes "Lwt continues" (Lwt.state p = Lwt.Sleep);
  Check.in_domain (fun () -> Mvar.put box 4);
  let+ v = p in
  int "the value" 4 v

(* Eio's loop does block Lwt's loop, because Eio's fibers aren't tasks of [direct]. *)
let around_eio () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let+ v =
    Concord_lwt.direct (fun () ->
        Eio_main.run (fun _ ->
            Eio.Fiber.both (fun () -> Mvar.put box 5) ignore;
            Eio.Fiber.first
              (fun () -> Mvar.take (Mvar.create_empty ()))
              (fun () -> Mvar.take box)))
  in
  int "the value" 5 v

let () =
  Check.run "Concord_lwt, direct style"
    [
      Wait_cases.on (Lwt_hosts.lwt_direct run);
      (* [Test_cancel] has what a cancelled promise does. *)
      Wait_cases.on { (Lwt_hosts.promises run) with cancel = None };
      ( "Lwt_direct",
        [
          test "each keeps the task's storage" storage;
          test "Kcas" kcas;
          test "that ends the last promise" last_promise;
          test "both styles" mixed;
        ] );
      ( "hosts in hosts",
        [
          test "run in Fifo" in_fifo;
          test "run in Eio" in_eio;
          test "run in a thread beside Eio" beside_eio;
          test "Fifo in direct" (around_fifo Concord_lwt.direct);
          test "Fifo in Lwt_direct" (around_fifo Lwt_direct.spawn);
          test "Eio in direct" around_eio;
        ] );
    ]
