open Lwt.Syntax
open Claims_kit
module Raw = Http_cases.Raw

(* --- Jobs --- *)

let deleted () =
  with_service [ "--fibers=1"; "--limit=60" ] (fun _ port ->
      let* computed = post port endless in
      let* () = await_metric port "queued" 0 in
      let* queued = post port 10 in
      let* () = await_metric port "queued" 1 in
      let delete id =
        let* got = Client.delete port id in
        expect "DELETE" 200 "cancelled" got;
        await_job port id "cancelled"
      in
      let* () = delete queued in
      let* () = await_metric port "queued" 0 in
      let* () = delete computed in
      await_metric port "cancelled" 2)

let limited () =
  with_service [ "--limit=0.1" ] (fun _ port ->
      let* id = post port endless in
      let failed = "failed the job took longer than 0.1 s" in
      (* At most 60 s. *)
      let* got = Client.get port (Printf.sprintf "/jobs/%d?wait=1000" id) in
      expect "GET" 200 failed got;
      await_job port id failed)

(* One domain computes, and three worker fibers have a job each. So two jobs wait for the domain.
   Of each of them, only the time counts that it has computed. *)
let limited_in_turn ~program () =
  let limit = 0.3 in
  with_service ~program
    [ "--fibers=3"; Printf.sprintf "--limit=%g" limit ]
    (fun _ port ->
      let start = Unix.gettimeofday () in
      let* first = post port endless in
      let* second = post port endless in
      let* third = post port 10 in
      let* () = await_job port third "done 4" in
      let failed = "failed the job took longer than 0.3 s" in
      let* () = await_job port first failed in
      let* () = await_job port second failed in
      let seconds = Unix.gettimeofday () -. start in
      if seconds < 2. *. limit then
        Alcotest.failf "two jobs of 0.3 s took %g s" seconds;
      Lwt.return_unit)

(* The service accepts as many jobs as it has worker fibers and places in the queue. A job that
   waits for a domain can be deleted as well as any other one. *)
let bounded ~program () =
  with_service ~program [ "--fibers=3"; "--capacity=2"; "--limit=60" ]
    (fun _ port ->
      let rec take ids = function
        | 0 -> Lwt.return ids
        | n ->
            let* id = post port endless in
            let* () = await_metric port "queued" 0 in
            take (id :: ids) (n - 1)
      in
      let* taken = take [] 3 in
      let* queued = Lwt_list.map_s (fun _ -> post port endless) [ 4; 5 ] in
      let* got = Client.post port 10 in
      expect "POST" 503 refused got;
      (* The job that computes is the last one, so the others never begin. *)
      let* () =
        Lwt_list.iter_s
          (fun id ->
            let* got = Client.delete port id in
            expect "DELETE" 200 "cancelled" got;
            Lwt.return_unit)
          (List.rev queued @ taken)
      in
      await_metric port "cancelled" 5)

(* OCaml's functions would accept these numbers. *)
let not_numbers ~program () =
  with_service ~program [] (fun _ port ->
      let refused meth ?body path text =
        let+ got = Client.call ?body meth port path in
        expect path 400 text got
      in
      let* () =
        Lwt_list.iter_s
          (fun body ->
            refused "POST" ~body "/jobs" "The body must be a number.")
          [ ""; "-1"; "+5"; "1_0"; "0x1f"; "1e3"; "99999999999999999999" ]
      in
      let* () =
        Lwt_list.iter_s
          (fun id ->
            refused "GET" ("/jobs/" ^ id) "The name of a job is a number.")
          [ "-1"; "1_0"; "0x1f"; "99999999999999999999" ]
      in
      let* id = post port 10 in
      let* () =
        Lwt_list.iter_s
          (fun seconds ->
            refused "GET"
              (Printf.sprintf "/jobs/%d?wait=%s" id seconds)
              "The time to wait is a number of seconds.")
          [ "nan"; "inf"; "-1"; "1_0"; "0x1p3"; "" ]
      in
      await_job port id "done 4")

let disconnected () =
  with_service [] (fun _ port ->
      let* id = post port 3_000_000 in
      let* () =
        Client.hang_up port
          (Client.request (Printf.sprintf "/jobs/%d?wait=30" id))
      in
      await_job port id "done 216816")

(* --- Clients that misbehave --- *)

(* The bad requests come while other clients' jobs are queued. None of these jobs is lost. *)
let malformed ~program () =
  with_service ~program [] (fun _ port ->
      let* ids =
        Lwt_list.map_s (fun _ -> post port 10_000) (List.init 30 Fun.id)
      in
      let bad =
        [
          "Content-Length: -1\r\n\r\n10";
          "Content-Length: 0x2\r\n\r\n10";
          "Transfer-Encoding: chunked\r\n\r\n-2\r\n10\r\n";
          "Content-Length: 99999999999999999999\r\n\r\n10";
        ]
      in
      let* () =
        Lwt_list.iter_s
          (fun rest ->
            let text = "POST /jobs HTTP/1.1\r\nHost: test\r\n" ^ rest in
            Client.connected port text (fun input ->
                let+ answer = Lwt_io.read input in
                if not (String.starts_with ~prefix:"HTTP/1.1 4" answer) then
                  Alcotest.failf "the answer to %S: %S" rest answer))
          bad
      in
      Lwt_list.iter_s (fun id -> await_job port id "done 1229") ids)

(* Opens [n] connections that send nothing. *)
let rec with_idle port n f =
  if n = 0 then f ()
  else Client.connected port "" (fun _ -> with_idle port (n - 1) f)

let rec until_same_twice f before =
  Unix.sleepf 0.1;
  let now = f () in
  if now <> before then until_same_twice f now

(* The idle clients take all the descriptors that they get. The database needs some, too. *)
let few_descriptors ~program () =
  let child = Child.start ~program ~limit:64 [ "--limit=2"; "--grace=20" ] in
  let port = Child.port child in
  let client = Raw.connect port in
  let ask request =
    Raw.send client request;
    let answer = Raw.receive client in
    (answer.status, String.trim answer.body)
  in
  let run_job () =
    let status, id =
      ask "POST /jobs HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n10"
    in
    check_int "POST" 202 status;
    Alcotest.(check (pair int string))
      "GET" (200, "done 4")
      (ask (Client.request (Printf.sprintf "/jobs/%s?wait=30" id)))
  in
  run_job ();
  let idle = List.init 100 (fun _ -> Raw.connect port) in
  until_same_twice (fun () -> Child.descriptors child) 0;
  for _ = 1 to 5 do
    run_job ()
  done;
  List.iter Raw.close (client :: idle);
  let ended = Lwt_main.run (end_of child ~grace:20.) in
  Alcotest.(check (list string)) "complaints" [] ended.complaints;
  check_int "done" 6 (List.assoc "done" ended.metrics)

(* Accepting fails for a while. *)
let no_descriptor ~program () =
  let child = Child.start ~program [ "--grace=20" ] in
  let port = Child.port child in
  Lwt_main.run
    (let* id = post port 10 in
     let* () = await_job port id "done 4" in
     Child.set_limit child (Child.descriptors child);
     let* () =
       with_idle port 5 (fun () ->
           let* () =
             Cases.poll "a failed accept" (fun () ->
                 Lwt.return (Child.complaints child <> []))
           in
           Child.set_limit child 500;
           await_job port id "done 4")
     in
     let+ ended = end_of child ~grace:20. in
     Alcotest.(check bool) "drained" true ended.drained;
     List.iter
       (fun line ->
         if not (String.starts_with ~prefix:"cannot accept: " line) then
           Alcotest.failf "it complained: %s" line)
       ended.complaints)

(* The clients send requests and read no answer, until the service reads nothing more from them
   either, because it waits for them. *)
let with_deaf port f =
  let clients = List.init 10 (fun _ -> Raw.connect ~receive_buffer:4096 port) in
  List.iter (fun client -> Raw.fill client (Client.request "/metrics")) clients;
  Lwt.finalize f (fun () ->
      List.iter Raw.close clients;
      Lwt.return_unit)

let deaf ~program () =
  let grace = 60. in
  let child = Child.start ~program [ "--grace=60"; "--transfer-timeout=4" ] in
  Lwt_main.run
    (with_deaf (Child.port child) (fun () ->
         let+ ended = end_of child ~grace in
         Alcotest.(check bool) "drained" true ended.drained;
         if ended.seconds > grace /. 2. then
           Alcotest.failf "the end took %g s" ended.seconds))

(* --- Events --- *)

let rec skip_to line input =
  let* read = Lwt_io.read_line input in
  if read = line then Lwt.return_unit else skip_to line input

(* HTTP/1.0 has no chunks, so the events come as they are. *)
let without_chunks () =
  with_service [] (fun _ port ->
      Client.connected port "GET /events HTTP/1.0\r\n\r\n" (fun input ->
          let* status = Lwt_io.read_line input in
          Alcotest.(check string)
            "status" "HTTP/1.1 200 OK" (String.trim status);
          let* () = skip_to "" input in
          let* id = post port 10 in
          let* event = Lwt_io.read_line input in
          Alcotest.(check string)
            "event"
            (Printf.sprintf "data: job %d done 4" id)
            event;
          Lwt.return_unit))

let rec count_events input ~last ~seen ~missed =
  let* line = Lwt_io.read_line input in
  let starts prefix = String.starts_with ~prefix line in
  if starts "event: missed" then
    let* data = Lwt_io.read_line input in
    let n = Scanf.sscanf data "data: %d%!" Fun.id in
    count_events input ~last ~seen ~missed:(missed + n)
  else
    let seen = if starts "data: job " then seen + 1 else seen in
    if starts (Printf.sprintf "data: job %d " last) then
      Lwt.return (seen, missed)
    else count_events input ~last ~seen ~missed

let post_many port n =
  let left = ref n in
  let rec client () =
    if !left = 0 then Lwt.return_unit
    else begin
      decr left;
      let* (_ : int) = post port 1 in
      client ()
    end
  in
  Lwt.join (List.init 16 (fun _ -> client ()))

let read_slowly () =
  let jobs = 2000 and grace = 0.5 in
  let child =
    Child.start ~in_memory:true
      [
        Printf.sprintf "--grace=%g" grace;
        "--capacity=2000";
        "--transfer-timeout=60";
      ]
  in
  let port = Child.port child in
  let events f =
    Client.connected ~receive_buffer:4096 port (Client.request "/events")
      (fun input ->
        (* Waits until the answer has begun. *)
        let* () = skip_to "" input in
        f input)
  in
  Lwt_main.run
    (events (fun slow ->
         events (fun (_ : Lwt_io.input_channel) ->
             let* () = post_many port jobs in
             let* () = await_metric port "done" jobs in
             let* last = post port 1 in
             let* seen, missed =
               Lwt_unix.with_timeout 30. (fun () ->
                   count_events slow ~last ~seen:0 ~missed:0)
             in
             check_int "seen + missed" (jobs + 1) (seen + missed);
             if missed = 0 then Alcotest.fail "no event was missed";
             let+ ended = end_of child ~grace in
             Alcotest.(check bool) "drained" false ended.drained;
             if ended.seconds < grace then
               Alcotest.failf "cut off after %g s" ended.seconds)))

(* --- SIGTERM --- *)

let stopped () =
  let child = Child.start [ "--grace=60" ] in
  let port = Child.port child in
  let poll id = Client.request (Printf.sprintf "/jobs/%d?wait=60" id) in
  Lwt_main.run
    (let* () =
       Cases.with_locked child (fun () ->
           let* id = post port 10 in
           Client.connected port (Client.request "/events") (fun events ->
               let* () = skip_to "" events in
               (* When the first request has its answer, the poll has arrived. *)
               Client.connected port
                 (Client.request "/metrics" ^ poll id)
                 (fun polls ->
                   let* () = skip_to "jobs_queued 0" polls in
                   Child.terminate child;
                   let* rest = Lwt_io.read polls in
                   let* end_of_events = Lwt_io.read events in
                   if not (String.ends_with ~suffix:"\r\n\r\npending\n" rest)
                   then Alcotest.failf "the poll got no answer: %S" rest;
                   Alcotest.(check string)
                     "the end of the events" "0\r\n\r\n" end_of_events;
                   Lwt.return_unit)))
     in
     let+ ended = Child.await_end child ~within:40. in
     Alcotest.(check bool) "drained" true ended.drained;
     check_int "done" 1 (List.assoc "done" ended.metrics))

(* --- Metrics ------------------------------------------------------------------------------- *)

let measured () =
  let child =
    Child.start ~debug:"metrics" [ "--workers=1"; "--fibers=1"; "--capacity=7" ]
  in
  let port = Child.port child in
  let jobs = [ ("kind", "work queue"); ("structure", "jobs") ]
  and primes = [ ("kind", "workers"); ("structure", "primes") ]
  and take = [ ("operation", "Work_queue.take"); ("structure", "jobs") ] in
  let samples () =
    let+ got = Client.get port "/metrics" in
    (Openmetrics_parser.parse (answer "metrics" got).body).samples
  in
  Lwt_main.run
    (let* _ = post port 10 in
     let* () = await_metric port "done" 1 in
     let* () =
       Cases.poll "the worker waits again" (fun () ->
           let+ samples = samples () in
           List.assoc_opt ("concord_waiting_tasks", take) samples = Some 1.)
     in
     let* samples = samples () in
     let check name labels expected =
       Alcotest.(check (option (float 0.)))
         name (Some expected)
         (List.assoc_opt (name, labels) samples)
     in
     check "jobs_done" [] 1.;
     check "concord_length" jobs 0.;
     check "concord_length_limit" jobs 7.;
     check "concord_in_use_limit" primes 1.;
     check "concord_wait_seconds_count" take 1.;
     Child.terminate child;
     let+ (_ : Child.ended) = Child.await_end child ~within:40. in
     ())
