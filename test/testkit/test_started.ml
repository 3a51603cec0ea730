(* A host that needs a thread and a domain that the program started when it was initialised.
   Libraries with their own pools work like this. *)

open Concord
open Concord_test_own

let jobs = Mailbox.create ()

let rec work () =
  Mailbox.take jobs ();
  work ()

let (_ : Thread.t) = Thread.create work ()

let (_ : unit Domain.t) =
  Domain.spawn (fun () ->
      Printexc.record_backtrace true;
      work ())

module Fifo = (val Own.fifo)

module Started = struct
  include Fifo

  let name = "Concord_fifo in what was started before"
  let not_offered = [ ("inside", "if run is cancelled, it leaves its tasks") ]

  let run f =
    let ended = Promise.create () in
    let job () =
      match Fifo.run f with
      | v -> Promise.fill ended v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Promise.fail ~backtrace ended e
    in
    Mailbox.add jobs job;
    Promise.await ended
end

let () = Own.test [ (module Started) ]
