open Concord_bench
open Case
open Picos_std_structured
open Picos_std_sync

let yield n =
  let half () =
    for _ = 1 to n / 2 do
      Control.yield ()
    done
  in
  Host_picos.run (fun () ->
      let start = Meter.now () in
      let other = Flock.fork_as_promise half in
      half ();
      Promise.await other;
      Meter.ns_since start)

let fork_join n =
  Host_picos.run (fun () ->
      let start = Meter.now () in
      for _ = 1 to n do
        Promise.await (Flock.fork_as_promise ignore)
      done;
      Meter.ns_since start)

let promise n =
  let ivar = Ivar.create () in
  let wait () = Ivar.read ivar and wake () = Ivar.fill ivar () in
  Host.growth Host_picos.host ~wait ~wake n

let taker n =
  let box = Messages.box () in
  let wait () = Messages.take box in
  let wake () =
    for _ = 1 to n do
      Messages.put box ()
    done
  in
  Host.growth Host_picos.host ~wait ~wake n

let rows =
  [
    picos "yield" (Time yield);
    picos "fork-join" (Time fork_join);
    picos "blocked-task-bytes" (resident promise);
    picos "blocked-taker-bytes" (resident taker);
  ]
