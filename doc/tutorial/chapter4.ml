open Concord

let with_pool f = Workers.with_workers ~domains:1 f

let is_prime k =
  let rec has_divisor d = d * d <= k && (k mod d = 0 || has_divisor (d + 1)) in
  not (has_divisor 2)

let primes_below token n =
  let rec count found k =
    if k land 1023 = 0 then Workers.check token;
    if k >= n then found
    else count (if is_prime k then found + 1 else found) (k + 1)
  in
  count 0 2

type outcome = Done of int | Failed of string | Cancelled
type job = { n : int; stopped : unit Promise.t; ended : outcome Promise.t }

let new_job n =
  let ended = Promise.create ~name:(Printf.sprintf "job %d" n) () in
  { n; stopped = Promise.create (); ended }

let text_of job = function
  | Done primes -> Printf.sprintf "%d: %d primes" job.n primes
  | Failed why -> Printf.sprintf "%d: %s" job.n why
  | Cancelled -> Printf.sprintf "%d: cancelled" job.n

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

let work pool ~limit jobs =
  Work_queue.iter
    (fun job -> Promise.fill job.ended (compute pool ~limit job))
    jobs

let offer jobs job = Event.sync_before 0.05 (Work_queue.add_evt jobs job)

let poll answer ~seconds =
  Event.select
    [
      Event.wrap (Promise.await_evt answer) Option.some;
      Event.wrap (Event.timeout seconds) (fun () -> None);
    ]

let give_up job ticket =
  if Work_queue.withdraw ticket then Promise.fill job.ended Cancelled
  else ignore (Promise.try_fill job.stopped () : bool)

(* Try it *)

let post jobs n =
  let job = new_job n in
  match offer jobs job with
  | Some ticket -> (job, ticket)
  | None -> failwith "the queue is full"

let print job =
  match poll job.ended ~seconds:60. with
  | Some outcome -> print_endline (text_of job outcome)
  | None -> print_endline "no answer yet"

let () =
  with_pool @@ fun pool ->
  Eio_main.run @@ fun _ ->
  let jobs = Work_queue.create ~name:"jobs" 10 in
  let slow, _ = post jobs max_int in
  let unwanted, ticket = post jobs max_int in
  let quick, _ = post jobs 10 in
  Work_queue.close jobs;
  Eio.Fiber.both
    (fun () -> work pool ~limit:1. jobs)
    (fun () -> give_up unwanted ticket);
  List.iter print [ slow; unwanted; quick ]
