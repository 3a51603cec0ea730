open Concord_bench
open Picos_std_structured

(* The scheduler uses this, which must be configured before there is another
   domain. *)
let () = Picos_io_select.configure ()
let run f = Picos_mux_fifo.run (fun () -> Flock.join_after f)

(* A fiber begins when its turn comes, where a task of the other hosts begins at
   once: the shapes rely on that. *)
let fork f =
  Flock.fork f;
  Control.yield ()

let host : Host.t = { run = (fun f -> run (fun () -> f fork)) }
