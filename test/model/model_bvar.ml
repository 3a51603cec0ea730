(* Condition variables with values. A broadcast wakes each task once, even one that waits again
   before the broadcast has ended. *)

open Actor
module Described_bvar = Described.Make (Groups.Of_bvar)

let live_in t = live (Atomic.get t)

let waits_twice t =
  make "a" @@ fun () ->
  let first = Bvar.wait t in
  Printf.sprintf "%d,%d" first (Bvar.wait t)

let () =
  Described_bvar.some 8 ~at_rest:(fun t -> ignore (live_in t : int));
  ( Model.check "one waits twice" ~expect:[ "a=1,2"; "a=waits" ] @@ fun () ->
    let t = Bvar.create () in
    let broadcast () =
      Bvar.broadcast t 1;
      Bvar.broadcast t 2
    in
    let processes, actors = start [] [ Run (waits_twice t); Do broadcast ] in
    let at_rest () =
      all_queued actors [ live_in t ];
      describe actors
    in
    (processes, at_rest) );
  Model.finish ()
