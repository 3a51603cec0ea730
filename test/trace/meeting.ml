(* Traced by the tests. Tasks of Fifo give a number to a thread and to another domain, which
   return it, N times. Each of them waits for the others. *)

open Concord

let number = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 3
let there = Mvar.create_empty ()
let back = Mvar.create_empty ()

let echo () =
  for _ = 1 to number do
    Mvar.put back (Mvar.take there)
  done

let send () =
  for i = 1 to number do
    Mvar.put there i
  done

let receive () =
  for _ = 1 to number do
    ignore (Mvar.take back : int)
  done

let () =
  let domain = Domain.spawn echo in
  Concord_fifo.run (fun () ->
      ignore (Concord_fifo.fork send : Concord_fifo.handle);
      ignore (Concord_fifo.fork receive : Concord_fifo.handle));
  Domain.join domain;
  print_endline "met"
