open Concord

(* Three tasks and two boxes. [fork] is all that this asks of a scheduler. *)
let sum_of_squares ~fork n =
  let numbers = Mvar.create_empty () and squares = Mvar.create_empty () in
  fork (fun () ->
      for i = 1 to n do
        Mvar.put numbers i
      done);
  fork (fun () ->
      for _ = 1 to n do
        let i = Mvar.take numbers in
        Mvar.put squares (i * i)
      done);
  List.fold_left ( + ) 0 (List.init n (fun _ -> Mvar.take squares))

let report host sum = Printf.printf "%-30s %d\n%!" host sum

let () =
  Concord_fifo.run (fun () ->
      let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle) in
      report "tasks of Concord_fifo:" (sum_of_squares ~fork 100));
  Eio_main.run (fun _ ->
      Eio.Switch.run (fun sw ->
          report "Eio fibers:" (sum_of_squares ~fork:(Eio.Fiber.fork ~sw) 100));
      (* An Eio fiber, and two tasks of Concord_fifo on domains of their own. *)
      let fork f =
        ignore (Domain.spawn (fun () -> Concord_fifo.run f) : unit Domain.t)
      in
      report "both, on three domains:" (sum_of_squares ~fork 100))
