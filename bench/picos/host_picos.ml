open Concord_bench
open Picos_std_structured

(* The scheduler uses this module, which has to be configured before a second domain starts. *)
let () = Picos_io_select.configure ()
let run f = Picos_mux_fifo.run (fun () -> Flock.join_after f)

(* A fiber of Picos begins later, but a task of the other hosts begins at once, and the shapes
   rely on that. So this yields. *)
let fork f =
  Flock.fork f;
  Control.yield ()

let host : Host.t = { run = (fun f -> run (fun () -> f fork)) }
