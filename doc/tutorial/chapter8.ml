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

let connect path () =
  Lwt_io.open_file
    ~flags:[ O_WRONLY; O_APPEND; O_CREAT ]
    ~mode:Lwt_io.Output path

let insert row connection =
  let open Lwt.Syntax in
  let* () = Lwt_io.write_line connection row in
  Lwt_io.flush connection

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

let with_database path f =
  Concord_lwt.with_domain ~close:Lwt_io.close (connect path) f

let finish database job outcome =
  Tasks.protect (fun () ->
      Concord_lwt.call database (insert (text_of job outcome));
      Promise.fill job.ended outcome)

let perform pool database ~limit job =
  match compute pool ~limit job with
  | outcome -> finish database job outcome
  | exception e ->
      finish database job Cancelled;
      raise e

let work pool database ~limit jobs =
  Work_queue.iter (perform pool database ~limit) jobs

let post jobs n =
  let job = new_job n in
  match Event.sync_before 0.05 (Work_queue.add_evt jobs job) with
  | Some ticket -> Some (job, ticket)
  | None | (exception Work_queue.Closed) -> None

let poll job ~seconds ~stop =
  Event.select
    [
      Event.wrap (Promise.await_evt job.ended) Option.some;
      Event.wrap (Event.timeout seconds) (fun () -> None);
      Event.wrap (Promise.await_evt stop) (fun (_ : int) -> None);
    ]

let give_up database job ticket =
  if Work_queue.withdraw ticket then finish database job Cancelled
  else ignore (Promise.try_fill job.stopped () : bool)

let serve ~path ~grace ~stop clients =
  with_pool @@ fun pool ->
  with_database path @@ fun database ->
  Eio_main.run @@ fun _ ->
  let jobs = Work_queue.create ~name:"jobs" 10 in
  let close = [ (fun () -> Work_queue.close jobs) ] in
  let ended =
    Shutdown.run ~close ~stop ~grace (fun () ->
        Eio.Fiber.both
          (fun () -> work pool database ~limit:60. jobs)
          (fun () -> clients database jobs))
  in
  let cancel job = finish database job Cancelled in
  List.iter cancel (Work_queue.drain jobs);
  print_endline (if ended.cut_short then "cut short" else "drained")

(* Try it *)

let terminate () = Unix.kill (Unix.getpid ()) Sys.sigterm

let patient_clients ~stop database jobs =
  match (post jobs 1_000, post jobs max_int) with
  | Some (job, _), Some (unwanted, ticket) ->
      (match poll job ~seconds:60. ~stop with
      | Some outcome -> print_endline ("answer: " ^ text_of job outcome)
      | None -> print_endline "no answer yet");
      give_up database unwanted ticket;
      terminate ()
  | _ -> print_endline "refused"

let greedy_clients _ jobs =
  List.iter
    (fun n -> if Option.is_none (post jobs n) then print_endline "refused")
    [ max_int; 10 ];
  terminate ()

let () =
  let path = Filename.temp_file "jobs" ".txt" in
  let stop = Signal.once [ Sys.sigterm; Sys.sigint ] in
  serve ~path ~grace:60. ~stop (patient_clients ~stop);
  let stop = Signal.once [ Sys.sigterm; Sys.sigint ] in
  serve ~path ~grace:0.05 ~stop greedy_clients;
  print_string (In_channel.with_open_text path In_channel.input_all)
