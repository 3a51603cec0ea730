(* Tasks that are fibers of Picos: how their host cancels them, and the requirements for every
   host. *)

open Picos
open Picos_std_structured
module P = Picos_std_sync
open Concord_test_support.Check
open Concord_test_hosts

(* --- The host cancels ---------------------------------------------------------------- *)

(* All fibers are unwound, including those of bundles. *)
let host_cancels (host : Cancelling.host) () =
  host.run @@ fun () ->
  let begun = ref 0 and unwound = ref 0 and over = ref None in
  let wait () =
    incr begun;
    Fun.protect
      (fun () -> P.Ivar.read (P.Ivar.create ()))
      ~finally:(fun () -> incr unwound)
  in
  let owner () =
    match
      Concord_picos.as_fiber (fun () ->
          Flock.join_after (fun () ->
              Flock.fork wait;
              Flock.fork wait;
              wait ()))
    with
    | () -> Alcotest.fail "not cancelled"
    | exception e ->
        over := Some (host.is_cancellation e);
        if not (host.is_cancellation e) then raise e
  in
  let cancel = host.fork owner in
  Cancelling.until host "they wait" (fun () -> !begun = 3);
  cancel ();
  Cancelling.until host "it is over" (fun () -> Option.is_some !over);
  yes "the host's exception" (!over = Some true);
  int "all were unwound" 3 !unwound

(* If a fiber defers cancellation, its host defers it too. *)
let host_defers (host : Cancelling.host) () =
  host.run @@ fun () ->
  let ivar = P.Ivar.create () and box = Concord.Mvar.create_empty () in
  let begun = ref false and got = ref None in
  let read () =
    begun := true;
    let v = P.Ivar.read ivar in
    got := Some (v + Concord.Mvar.take box)
  in
  let owner () =
    try Concord_picos.as_fiber (fun () -> Control.protect read)
    with e when host.is_cancellation e -> ()
  in
  let cancel = host.fork owner in
  Cancelling.until host "it waits" (fun () -> !begun);
  cancel ();
  for _ = 1 to 20 do
    host.pause ()
  done;
  P.Ivar.fill ivar 1;
  for _ = 1 to 20 do
    host.pause ()
  done;
  Concord.Mvar.put box 2;
  Cancelling.until host "it has both" (fun () -> !got = Some 3)

(* A fiber's host is cancelled, but the fiber's own computation isn't. The fiber learns of the
   cancellation as Picos reports one. *)
let host_refuses (host : Cancelling.host) () =
  host.run @@ fun () ->
  let computation = Computation.create () in
  let begun = ref false and told = ref None in
  let await () =
    ignore (Trigger.await (Trigger.create ()) : (exn * _) option)
  in
  let spawn () =
    Fiber.spawn (Fiber.create ~forbid:false (Computation.create ())) ignore
  in
  let guest () =
    Fiber.set_computation (Fiber.current ()) (Packed computation);
    begun := true;
    await ();
    let ended f = match f () with () -> None | exception e -> Some e in
    told := Some (ended Fiber.yield, ended spawn)
  in
  let owner () =
    try Concord_picos.as_fiber guest with e when host.is_cancellation e -> ()
  in
  let cancel = host.fork owner in
  Cancelling.until host "it waits" (fun () -> !begun);
  cancel ();
  Cancelling.until host "it is over" (fun () -> Option.is_some !told);
  let terminated = Some Control.Terminate in
  yes "yield" (fst (Option.get !told) = terminated);
  yes "spawn" (snd (Option.get !told) = terminated)

(* --- It is a host ---------------------------------------------------------------------- *)

let hosts =
  let on (place : Places.place) =
    let run f = place.run (fun () -> Concord_picos.as_fiber f) in
    let name = "as_fiber in " ^ place.name in
    [
      (name ^ ", reached", Reach_cases.place name Reach_cases.suspends run);
      (name ^ ", lazy, undefined", Lazy_undefined.within run);
      Tasks_first.everywhere (name ^ ", first, timeouts, lists", run);
    ]
  in
  (* One of these cases runs a scheduler in a further thread. That doesn't work on a domain of
     a pool, where [Domain_local_await] determines the order of the schedulers. So pools are
     left out. *)
  let tasks (place : Places.place) =
    let run f = place.run (fun () -> Concord_picos.as_fiber f) in
    Tasks_cases.everywhere ("as_fiber in " ^ place.name ^ ", tasks", run)
  in
  List.concat_map on Places.[ in_fifo; in_eio; in_pool; in_picos ]
  @ List.map tasks Places.[ in_fifo; in_eio; in_picos ]

let cancelled =
  let in_fifo =
    Schedulers.
      {
        name = "as_fiber in Fifo";
        run = (fun f -> Concord_fifo.run (fun () -> Concord_picos.as_fiber f));
      }
  in
  let host = Schedulers.(cancelling ~fork:spawn in_fifo) in
  [
    ( "as_fiber, cancelled",
      [
        test "is_cancelled" (Reach_cases.cancelled host);
        test "by Fifo" (host_cancels (Cancelling.fifo `Eager));
        test "by Fifo, lazily" (host_cancels (Cancelling.fifo `Lazy));
        test "by Eio" (host_cancels (Cancelling.eio ~protects:true));
        test "deferred, by Fifo" (host_defers (Cancelling.fifo `Eager));
        test "deferred, by Eio" (host_defers (Cancelling.eio ~protects:true));
        test "refused, by Fifo" (host_refuses (Cancelling.fifo `Eager));
        test "refused, by Eio" (host_refuses (Cancelling.eio ~protects:true));
        test "by Picos" (host_cancels (Schedulers.cancelling Schedulers.fifo));
      ] );
    Tasks_cancelled.from_outside "as_fiber" host;
    Tasks_first.from_outside "as_fiber, first" host;
    Lazy_policies.suite "as_fiber, lazy, cancelled" host;
  ]

let suites = hosts @ cancelled
