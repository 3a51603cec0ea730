open Concord

(* Three tasks and two boxes, on whatever host calls. *)
let sum_of_squares n =
  let numbers = Mvar.create_empty () and squares = Mvar.create_empty () in
  Scope.run (fun scope ->
      Scope.fork scope (fun () ->
          for i = 1 to n do
            Mvar.put numbers i
          done);
      Scope.fork scope (fun () ->
          for _ = 1 to n do
            let i = Mvar.take numbers in
            Mvar.put squares (i * i)
          done);
      List.fold_left ( + ) 0 (List.init n (fun _ -> Mvar.take squares)))

let report host sum = Printf.printf "%-30s %d\n%!" host sum

let () =
  report "a plain thread:" (sum_of_squares 100);
  Concord_fifo.run (fun () ->
      report "tasks of Concord_fifo:" (sum_of_squares 100));
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Eio_main.run (fun _ ->
      report "Eio fibers:" (sum_of_squares 100);
      (* A fiber waits for a task of the pool. *)
      let sum = Concord_domainslib.submit pool (fun () -> sum_of_squares 100) in
      report "a task of a Domainslib pool:" (Promise.await sum));
  Domainslib.Task.teardown_pool pool
