(* Threads of each style among tasks of other hosts. The set is a host itself, or runs in a
   task of another host. *)

open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Styles_cases
open Check

(* --- A thread as a place where anything may run --------------------------------- *)

let place style f =
  Style.in_thread style (fun () ->
      Printexc.record_backtrace true;
      f ())

let among (module S : Style.S) fs =
  List.iter (fun f -> S.spawn (fun () -> S.direct f)) fs;
  S.start ()

let as_a_host (module S : Style.S) =
  let style : Style.style = (module S) in
  [
    ( S.name ^ ": reach",
      Reach_cases.place S.name Reach_cases.suspends (place style) );
    Tasks_cases.everywhere (S.name ^ ": tasks", place style);
    (S.name ^ ": lazy, undefined", Lazy_undefined.within (place style));
    (S.name ^ ": lazy, among threads", Lazy_undefined.among (among style));
  ]

(* --- The task that calls start is cancelled ---------------------------------------- *)

module In_host (S : Style.S) = struct
  open S

  let cancelled (host : Cancelling.host) () =
    host.run @@ fun () ->
    let m = Mvar.create_empty () and seen = ref None and unwound = ref 0 in
    let waits () =
      let* () = take m in
      Alcotest.fail "it continued"
    and waits_in_direct () =
      let* () =
        direct (fun () ->
            Fun.protect
              ~finally:(fun () -> incr unwound)
              (fun () -> Mvar.take m))
      in
      Alcotest.fail "it continued"
    in
    let owner () =
      spawn waits;
      spawn waits_in_direct;
      match start () with
      | () -> Alcotest.fail "start has returned"
      | exception e -> seen := Some e
    in
    let cancel = host.fork owner in
    Cancelling.until host "they wait" (fun () -> Mvar.waiters m = 2);
    cancel ();
    Cancelling.until host "it is over" (fun () -> !seen <> None);
    yes "the host's exception" (host.is_cancellation (Option.get !seen));
    int "unwound" 1 !unwound;
    int "waiters" 0 (Mvar.waiters m);
    Mvar.put m ();
    yes "not lost" (Mvar.try_take m = Some ());
    let ran = ref false in
    spawn (fun () ->
        let* () = yield () in
        ran := true;
        return ());
    start ();
    yes "the next set" !ran

  (* The end of the set waits for protected threads. *)
  let cancelled_protected (host : Cancelling.host) () =
    host.run @@ fun () ->
    let m = Mvar.create_empty () and got = ref 0 and over = ref false in
    let owner () =
      spawn (fun () ->
          let* i = direct (fun () -> Suspend.protect (fun () -> Mvar.take m)) in
          got := i;
          return ());
      match start () with
      | () -> Alcotest.fail "start has returned"
      | exception e ->
          yes "the host's exception" (host.is_cancellation e);
          over := true
    in
    let cancel = host.fork owner in
    Cancelling.until host "it waits" (fun () -> Mvar.waiters m = 1);
    cancel ();
    for _ = 1 to 20 do
      host.pause ()
    done;
    no "over" !over;
    Mvar.put m 3;
    Cancelling.until host "it is over" (fun () -> !over);
    int "got" 3 !got

  (* The thread is resumed, and cancelled before its turn. Its value isn't lost. *)
  let given_then_cancelled (host : Cancelling.host) () =
    host.run @@ fun () ->
    let m = Mvar.create_empty () and got = ref 0 and over = ref false in
    let owner () =
      spawn (fun () ->
          let* i = take m in
          got := i;
          return ());
      (try start () with e when host.is_cancellation e -> ());
      over := true
    in
    let cancel = host.fork owner in
    Cancelling.until host "it waits" (fun () -> Mvar.waiters m = 1);
    Mvar.put m 3;
    cancel ();
    Cancelling.until host "it is over" (fun () -> !over);
    int "given, or left" 3
      (match Mvar.try_take m with Some i -> i | None -> !got)

  (* Sets of tasks on one system thread. *)
  let exchange (run : (unit -> unit) list -> unit) () =
    let m = Mvar.create_empty () and back = Mvar.create_empty () in
    let sum = ref 0 in
    let rec echo n () =
      if n = 0 then return ()
      else
        let* i = take m in
        let* () = put back (i + 1) in
        echo (n - 1) ()
    in
    run
      [
        (fun () ->
          spawn (echo 100);
          start ());
        (fun () ->
          for i = 1 to 100 do
            Mvar.put m i;
            sum := !sum + Mvar.take back
          done);
      ];
    int "sum" 5150 !sum

  let tests (name, (host : Cancelling.host)) =
    [
      test (name ^ ": cancelled") (cancelled host);
      test (name ^ ": protected") (cancelled_protected host);
      test (name ^ ": given, then cancelled") (given_then_cancelled host);
    ]
end

let hosts =
  [
    ("Fifo", Cancelling.fifo `Eager);
    ("Fifo, lazy", Cancelling.fifo `Lazy);
    ("Eio", Cancelling.eio ~protects:true);
    ("by hand", Cancelling.hand);
  ]

let in_fifo fs =
  Concord_fifo.run (fun () ->
      List.iter Concord_fifo.join (List.map Concord_fifo.fork fs))

let in_eio fs = Eio_main.run (fun _ -> Eio.Fiber.all fs)

let in_pool n fs =
  let pool = Domainslib.Task.setup_pool ~num_domains:n () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () ->
      Domainslib.Task.run pool (fun () ->
          List.map (fun f -> Domainslib.Task.async pool f) fs
          |> List.iter (Domainslib.Task.await pool)))

let in_a_host (module S : Style.S) =
  let module Cases = In_host (S) in
  ( S.name ^ ": in a task",
    List.concat_map Cases.tests hosts
    @ [
        test "exchange, Fifo" (Cases.exchange in_fifo);
        test "exchange, Eio" (Cases.exchange in_eio);
        test "exchange, a pool of one domain" (Cases.exchange (in_pool 0));
        test "exchange, a pool" (Cases.exchange (in_pool 2));
      ] )

let () =
  run "Styles and hosts"
    (List.concat_map as_a_host Style.all @ List.map in_a_host Style.all)
