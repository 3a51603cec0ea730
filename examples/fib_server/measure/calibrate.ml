(* The capacity is measured with the server's own code and number of domains. It can't be
   derived from the speed of one domain, because cores may share hardware and other processes
   may be running. *)

module Task = Domainslib.Task

type t = { n : int; cost : float }

let timed clock f =
  let start = clock () in
  f ();
  clock () -. start

let compute n = ignore (Sys.opaque_identity (Fib.sequential n) : int)
let cost_of n = timed Sys.time (fun () -> compute n)

let rec choose ~enough n =
  let cost = cost_of n in
  if cost >= enough then (n, cost) else choose ~enough (n + 1)

let measure ?n ~enough () =
  let n, cost =
    match n with Some n -> (n, cost_of n) | None -> choose ~enough 25
  in
  { n; cost }

let capacity ~n ~domains ~seconds =
  let pool = Task.setup_pool ~num_domains:(domains - 1) () in
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) @@ fun () ->
  let compute_batch () =
    Task.run pool @@ fun () ->
    List.init domains (fun _ -> Task.async pool (fun () -> Fib.parallel pool n))
    |> List.iter (fun task -> ignore (Task.await pool task : int))
  in
  let deadline = Unix.gettimeofday () +. seconds in
  let rec repeat elapsed =
    if List.length elapsed >= 3 && Unix.gettimeofday () > deadline then elapsed
    else repeat (timed Unix.gettimeofday compute_batch :: elapsed)
  in
  float domains /. Http_load.Percentiles.of_list (repeat []) 0.5
