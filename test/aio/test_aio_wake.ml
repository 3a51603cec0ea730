(* A poller that is woken just before it waits returns. *)

open Concord_test_support
open Check
module Poller = Concord_aio__Poller

let rounds = 50_000

(* Another domain wakes it once for each round, at no time in particular. *)
let woken () =
  let poller = Poller.create () in
  let asked = Atomic.make 0 in
  let join =
    domain (fun () ->
        for i = 1 to rounds do
          while Atomic.get asked < i do
            Domain.cpu_relax ()
          done;
          Poller.wake poller
        done)
  in
  for i = 1 to rounds do
    Atomic.set asked i;
    for _ = 1 to i land 15 do
      Domain.cpu_relax ()
    done;
    Poller.poll poller ~block:true
  done;
  join ()

let () = Check.run "aio: wake" [ ("poller", [ test "woken" woken ]) ]
