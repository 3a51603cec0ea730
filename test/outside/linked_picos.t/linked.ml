(* concord-picos is among the libraries, but no line names it. *)

open Concord
module Flock = Picos_std_structured.Flock

let () =
  let box = Mvar.create_empty () in
  Picos_mux_fifo.run @@ fun () ->
  Flock.join_after @@ fun () ->
  Flock.fork (fun () -> print_endline (Mvar.take box));
  Flock.fork (fun () -> Mvar.put box "the fiber was suspended")
