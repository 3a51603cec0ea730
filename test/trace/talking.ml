(* Traced by the tests. It prints lines for a given time. Meanwhile more than a thousand tasks
   of Fifo wait, and tasks of eight domains wait for one of Fifo. *)

open Concord

let tasks = 1_200

let () =
  let seconds = float_of_string Sys.argv.(1) in
  let go_on = Promise.create () in
  let domains =
    List.init 7 (fun _ -> Domain.spawn (fun () -> Promise.await go_on))
  in
  Concord_fifo.run (fun () ->
      for _ = 1 to tasks do
        ignore
          (Concord_fifo.fork (fun () -> Promise.await go_on)
            : Concord_fifo.handle)
      done;
      for i = 1 to 30 do
        Printf.printf "line %d\n%!" i;
        Concord_fifo.yield ();
        Unix.sleepf (seconds /. 30.)
      done;
      Promise.fill go_on ());
  List.iter Domain.join domains;
  prerr_endline "said all"
