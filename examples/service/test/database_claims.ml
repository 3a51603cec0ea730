open Lwt.Syntax
open Claims_kit

let unreadable = "The database does not answer. Try again later."

let rec post_until_refused port ids =
  let* got = Client.post port 10 in
  let { Client.status; body } = answer "POST" got in
  if status = 202 then post_until_refused port (int_of_string body :: ids)
  else begin
    Alcotest.(check (pair int string)) "POST" (503, refused) (status, body);
    Lwt.return ids
  end

let locked ~database =
  with_service ?database [ "--fibers=1"; "--capacity=2" ] (fun child port ->
      let* first = post port 10 in
      let* () = await_job port first "done 4" in
      let* accepted =
        Cases.with_locked child (fun () ->
            let* got = Client.get port (Printf.sprintf "/jobs/%d" first) in
            expect "GET of a stored job" 503 unreadable got;
            post_until_refused port [])
      in
      (* One more than the capacity is possible, because the worker fiber has taken one. *)
      if List.length accepted > 3 then
        Alcotest.failf "%d jobs accepted" (List.length accepted);
      let* () =
        Lwt_list.iter_s (fun id -> await_job port id "done 4") accepted
      in
      await_metric port "refused" 1)

(* Each insertion now lasts longer than the service's limit, as on a slow disk. The test machine's
   speed decides how many rows that takes. *)
let make_slow execute ~seconds =
  let query = "SELECT count(*) FROM big a, big b WHERE a.n * b.n % 7 = 3" in
  let double = "INSERT INTO big SELECT n + (SELECT max(n) FROM big) FROM big" in
  let* () = execute "CREATE TABLE big (n bigint)" in
  let* () = execute "CREATE TABLE total (n bigint)" in
  let* () = execute "INSERT INTO big VALUES (1)" in
  let rec grow () =
    let before = Unix.gettimeofday () in
    let* () = execute ("INSERT INTO total " ^ query) in
    if Unix.gettimeofday () -. before < seconds then
      let* () = execute double in
      grow ()
    else Lwt.return_unit
  in
  let* () = grow () in
  execute
    (Printf.sprintf
       "CREATE TRIGGER slow AFTER INSERT ON jobs BEGIN INSERT INTO total %s; \
        END"
       query)

let slow ~program () =
  with_service ~program [ "--limit=0.2" ] (fun child port ->
      let* first = post port 10 in
      let* () = await_job port first "done 4" in
      let* () = Cases.with_connection child (make_slow ~seconds:0.6) in
      let* second = post port 10 in
      let* () = await_job port second "done 4" in
      let* () = await_metric port "done" 2 in
      let* () = await_metric port "failed" 0 in
      Lwt.map
        (fun _ -> ())
        (let* got = Client.get port (Printf.sprintf "/jobs/%d" second) in
         expect "the row" 200 "done 4" got;
         Lwt.return_unit))

(* Storing lasts so long that the service stops waiting for it, but the row is there in the end. *)
let unanswered ~program () =
  let child = Child.start ~program [ "--limit=0.2"; "--grace=40" ] in
  let port = Child.port child in
  let ended =
    Lwt_main.run
      (let* first = post port 10 in
       let* () = await_job port first "done 4" in
       let* () = Cases.with_connection child (make_slow ~seconds:9.) in
       let* second = post port 10 in
       let* () = await_metric port "unknown" 1 in
       let path = Printf.sprintf "/jobs/%d" second in
       let* () =
         Cases.poll "the row" (fun () ->
             let+ got = Client.get port path in
             (answer "GET" got).body = "done 4")
       in
       end_of child ~grace:40.)
  in
  match ended.complaints with
  | [ line ] when String.starts_with ~prefix:"job 2 may be lost: " line -> ()
  | lines -> Alcotest.failf "complaints: %s" (String.concat "\n" lines)

let out_of_reach () =
  (* The driver of caqti 3.0 blocks the loop while it connects. *)
  let database = Postgresql.create_database () ^ "&connect_timeout=2" in
  let child = Child.start ~database [ "--limit=1"; "--grace=0.1" ] in
  let port = Child.port child in
  let ended =
    Lwt_main.run
      (let* stored = post port 10 in
       let* () = await_job port stored "done 4" in
       Postgresql.out_of_reach (fun () ->
           let* got = Client.get port (Printf.sprintf "/jobs/%d" stored) in
           expect "GET of a stored job" 503 unreadable got;
           let* (_ : int) = post port 10 in
           end_of child ~grace:0.1))
  in
  match ended.complaints with
  | [ line ] when String.starts_with ~prefix:"job 2 is lost: " line -> ()
  | lines -> Alcotest.failf "complaints: %s" (String.concat "\n" lines)
