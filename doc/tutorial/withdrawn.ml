open Concord

type outcome = Done of int | Failed of string | Cancelled
type job = { n : int; stopped : unit Promise.t; ended : outcome Promise.t }

let new_job n =
  let ended = Promise.create ~name:(Printf.sprintf "job %d" n) () in
  { n; stopped = Promise.create (); ended }

let primes_below token n =
  let rec has_divisor d k =
    d * d <= k && (k mod d = 0 || has_divisor (d + 1) k)
  in
  let rec count found k =
    if k land 1023 = 0 then Workers.check token;
    if k >= n then found
    else count (if has_divisor 2 k then found else found + 1) (k + 1)
  in
  count 0 2

let compute pool ~limit job =
  Tasks.any
    [
      (fun () ->
        Done
          (Workers.run_stoppable pool (fun token -> primes_below token job.n)));
      (fun () ->
        Promise.await job.stopped;
        Cancelled);
      (fun () ->
        Tasks.sleep limit;
        Failed "too slow");
    ]

let work pool jobs =
  Work_queue.iter
    (fun job -> Promise.fill job.ended (compute pool ~limit:10. job))
    jobs

let give_up job ticket =
  if Work_queue.withdraw ticket then prerr_endline "withdrawn"
  else ignore (Promise.try_fill job.stopped () : bool)

let print job =
  match Promise.await job.ended with
  | Done primes -> Printf.printf "%d primes\n%!" primes
  | Failed why -> print_endline why
  | Cancelled -> print_endline "cancelled"

let () =
  Workers.with_workers ~domains:1 @@ fun pool ->
  Eio_main.run @@ fun _ ->
  let jobs = Work_queue.create ~name:"jobs" 10 in
  let job = new_job 1_000 in
  let ticket = Work_queue.add jobs job in
  Eio.Fiber.all
    [
      (fun () ->
        print job;
        Work_queue.close jobs);
      (fun () -> give_up job ticket);
      (fun () -> work pool jobs);
    ]
