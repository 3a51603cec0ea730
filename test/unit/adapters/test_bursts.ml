(* Another domain resumes 10,000 tasks. How many of these resumptions wake the loop? *)

open Concord_test_support
module Fifo = Concord_fifo

let eio f =
  Eio_main.run @@ fun _ ->
  Eio.Switch.run @@ fun sw -> f (fun task -> Eio.Fiber.fork ~sw task)

let fifo_in_eio f =
  Eio_main.run @@ fun _ ->
  Fifo.run @@ fun () -> f (fun task -> ignore (Fifo.fork task : Fifo.handle))

let () =
  Check.run "Bursts"
    [ ("Eio", Burst.cases eio); ("Fifo in Eio", Burst.cases fifo_in_eio) ]
