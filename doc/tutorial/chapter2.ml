open Concord

let with_pool f = Workers.with_workers ~domains:1 f

let is_prime k =
  let rec has_divisor d = d * d <= k && (k mod d = 0 || has_divisor (d + 1)) in
  not (has_divisor 2)

let primes_below n =
  let rec count found k =
    if k >= n then found
    else count (if is_prime k then found + 1 else found) (k + 1)
  in
  count 0 2

let work pool jobs =
  let perform n =
    let primes = Workers.run pool (fun () -> primes_below n) in
    Printf.printf "%d primes below %d\n%!" primes n
  in
  Work_queue.iter perform jobs

let offer jobs job = Event.sync_before 0.05 (Work_queue.add_evt jobs job)

(* Try it *)

let () =
  with_pool @@ fun pool ->
  Eio_main.run @@ fun _ ->
  let jobs = Work_queue.create ~name:"jobs" 2 in
  let client n =
    let accepted = Option.is_some (offer jobs n) in
    Printf.printf "%d is %s\n%!" n (if accepted then "accepted" else "refused")
  in
  List.iter client [ 10; 20; 30 ];
  let late_client () =
    let (_ : int Work_queue.ticket) = Work_queue.add jobs 40 in
    Work_queue.close jobs
  in
  Eio.Fiber.both (fun () -> work pool jobs) late_client
