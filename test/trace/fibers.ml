(* Traced by the tests. Fibers of Eio give work to a pool of Domainslib, and a task of the pool
   waits for another fiber. *)

open Concord

let fib = Mvar.create_empty ()
let rec slow_fib n = if n < 2 then n else slow_fib (n - 1) + slow_fib (n - 2)

let () =
  Eio_main.run @@ fun _ ->
  Attached_pools.with_pool ~num_domains:2 @@ fun pool ->
  let ask n =
    let promise =
      Concord_domainslib.submit pool (fun () ->
          Mvar.put fib (slow_fib n);
          n)
    in
    ignore (Promise.await promise : int)
  in
  Eio.Fiber.all
    ((fun () ->
       for _ = 1 to 10 do
         ignore (Mvar.take fib : int)
       done)
    :: List.init 10 (fun i () -> ask (15 + i)))
