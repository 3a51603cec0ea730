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

type job = { n : int; answer : int Promise.t }

let new_job n = { n; answer = Promise.create () }

let work pool jobs =
  let perform job =
    Promise.fill job.answer (Workers.run pool (fun () -> primes_below job.n))
  in
  Work_queue.iter perform jobs

let offer jobs job = Event.sync_before 0.05 (Work_queue.add_evt jobs job)

let poll answer ~seconds =
  Event.select
    [
      Event.wrap (Promise.await_evt answer) Option.some;
      Event.wrap (Event.timeout seconds) (fun () -> None);
    ]

(* Try it *)

let () =
  with_pool @@ fun pool ->
  Eio_main.run @@ fun _ ->
  let jobs = Work_queue.create ~name:"jobs" 2 in
  let job = new_job 1_000 in
  let client ~seconds =
    match poll job.answer ~seconds with
    | Some primes -> Printf.printf "%d primes\n%!" primes
    | None -> print_endline "no answer yet"
  in
  if Option.is_none (offer jobs job) then failwith "the queue is full";
  client ~seconds:0.01;
  Work_queue.close jobs;
  Eio.Fiber.both (fun () -> work pool jobs) (fun () -> client ~seconds:60.)
