(* Operations that need not wait, on the hosts that need no other library. *)

open Concord_test_support
open Concord_test_hosts
open Check
open Ready_cases
module Fifo = Concord_fifo

(* --- Operations of Concord_fifo ------------------------------------------------ *)

(* A task of a scheduler that has ended. *)
let ended_task f =
  Fifo.run (fun () ->
      let h = Fifo.fork f in
      (try Fifo.join h with Not_found -> ());
      h)

let of_fifo =
  [
    case "Concord_fifo.join" (fun () ->
        let h = ended_task ignore in
        fun () -> Fifo.join h);
    case "Concord_fifo.join, failed" (fun () ->
        let h = ended_task (fun () -> raise Not_found) in
        fun () -> raises "the failure" Not_found (fun () -> Fifo.join h));
    case "Concord_fifo.join_evt" (fun () ->
        let h = ended_task ignore in
        fun () -> Concord.Event.sync (Fifo.join_evt h));
    now "Concord_fifo.self" (fun () -> ignore (Fifo.self () : Fifo.handle));
    now "Concord_fifo.protect" (fun () -> Fifo.protect ignore);
    case "Concord_fifo.cancel" (fun () ->
        let h = ended_task ignore in
        fun () -> Fifo.cancel h);
    now "Local.with_binding" (fun () ->
        let key = Concord.Local.create () in
        Concord.Local.with_binding key five (fun () ->
            yes "the value" (Concord.Local.get key = Some five)));
    now "Concord_fifo.Scope.run" (fun () -> Fifo.Scope.run ignore);
  ]

let page = "lib/fifo/fifo.mli"

let of_fifo_that_wait =
  [
    always "Concord_fifo.yield" ~page
      ~says:"- {b Suspends} the caller until then." Fifo.yield;
    always "Concord_fifo.fork" ~page
      ~says:"- {b Suspends} the caller like {!yield}." (fun () ->
        Fifo.fork not_called);
  ]

let on_fifo host = on host ~more:of_fifo ~more_exceptions:of_fifo_that_wait

let () =
  let open Basic_hosts in
  run "Operations that need not wait"
    [
      on (of_cancelling "by hand" Cancelling.hand);
      on_fifo fifo;
      on_fifo lazy_fifo;
      on (Test_host.within ~outer:threads fifo);
      on ~cooperative:false threads;
      on ~cooperative:false domains;
      (* From here on, there was a second domain, so tasks may spin. *)
      on_fifo { fifo with name = "Fifo, after a domain" };
      ( "the table",
        [
          test "no operation is left out" none_left_out;
          test "exceptions are documented"
            (documented ~root:"../../../" (always_wait @ of_fifo_that_wait));
        ] );
    ]
