open Concord

(* Two tasks exchange numbers through a box, on whichever host calls this. *)
let sum_of_squares n =
  let squares = Mvar.create_empty () in
  let put i = Mvar.put squares (i * i) in
  let rec sum i = if i = 0 then 0 else Mvar.take squares + sum (i - 1) in
  snd
    (Tasks.both (fun () -> List.iter put (List.init n succ)) (fun () -> sum n))

let report host = Printf.printf "%-30s %d\n%!" host (sum_of_squares 100)

let () =
  report "a plain thread:";
  Concord_fifo.run (fun () -> report "a task of Concord_fifo:");
  Concord_lwt.run (fun () ->
      Concord_lwt.direct (fun () -> report "a task in Lwt's loop:"));
  Eio_main.run (fun _ ->
      report "an Eio fiber:";
      (* The fiber waits for the job, and other fibers run meanwhile. *)
      Workers.with_workers ~domains:1 (fun workers ->
          Workers.run workers (fun () -> report "a job in another domain:")))
