open Lwt.Syntax

let check_int = Alcotest.(check int)

let poll what condition =
  let deadline = Unix.gettimeofday () +. 30. in
  let rec go () =
    let* fulfilled = condition () in
    if fulfilled then Lwt.return_unit
    else if Unix.gettimeofday () > deadline then
      Alcotest.failf "timed out: %s" what
    else
      let* () = Lwt_unix.sleep 0.01 in
      go ()
  in
  go ()

(* --- The load --- *)

type load = {
  child : Child.t;
  mutable accepted : int list;
  mutable answers : int;
  mutable ending : bool;
  ended : unit Lwt.t;
  end_ : unit Lwt.u;
  mutable clients : unit Lwt.t;
}

let note load = function
  | None -> ()
  | Some (answer : Client.answer) ->
      load.answers <- load.answers + 1;
      if not (List.mem answer.status [ 200; 202; 503 ]) then
        Alcotest.failf "status %d: %s" answer.status answer.body

let long_poll load id =
  let+ answer =
    Client.get (Child.port load.child) (Printf.sprintf "/jobs/%d?wait=5" id)
  in
  note load answer

let delete load id =
  let+ answer = Client.delete (Child.port load.child) id in
  note load answer

let hang_up load random =
  let texts =
    [|
      "";
      "POST /jobs HTTP/1.1\r\nContent-Le";
      "POST /jobs HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n10";
      "POST /jobs HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n10";
      "GET /jobs/1?wait=5 HTTP/1.1\r\nHost: t\r\n\r\n";
      "GET /events HTTP/1.1\r\nHost: t\r\n\r\n";
      "GET / HTTP/1.1\r\n\
       Host: t\r\n\
       \r\n\
       GET / HTTP/1.1\r\n\
       Host: t\r\n\
       \r\n\
       GET / HTTP/1.1\r\n\
       Host: t\r\n\
       \r\n";
      "nonsense\r\n\r\n";
    |]
  in
  Client.hang_up (Child.port load.child)
    texts.(Random.State.int random (Array.length texts))

let events load random =
  let left = ref (Random.State.int random 10) in
  let followed =
    Client.events (Child.port load.child) (fun _ ->
        decr left;
        !left > 0)
  in
  (* If there are no jobs, there are no events. *)
  Lwt.pick [ followed; load.ended ]

let post load random n =
  let* answer =
    Client.post (Child.port load.child) (Random.State.int random n)
  in
  note load answer;
  match answer with
  | Some { status = 202; body } -> (
      let id = int_of_string body in
      load.accepted <- id :: load.accepted;
      match Random.State.int random 4 with
      | 0 -> delete load id
      | 1 -> Lwt.return_unit
      | _ -> long_poll load id)
  | Some _ -> Lwt_unix.sleep 0.01
  | None ->
      (* No client reads the events from here on. *)
      load.ending <- true;
      Lwt.return_unit

let rec client load random n =
  if load.ending then Lwt.return_unit
  else
    let* () =
      match Random.State.int random 8 with
      | 0 -> hang_up load random
      | 1 -> events load random
      | _ -> post load random n
    in
    let* () = Lwt.pause () in
    client load random n

let start_load random child ~clients ~n =
  let ended, end_ = Lwt.wait () in
  let load =
    {
      child;
      accepted = [];
      answers = 0;
      ending = false;
      ended;
      end_;
      clients = Lwt.return_unit;
    }
  in
  load.clients <-
    Lwt.join
      (List.init clients (fun _ -> client load (Random.State.split random) n));
  load

let answered load n =
  poll (Printf.sprintf "%d answers" n) (fun () ->
      Lwt.return (load.answers >= n))

let tell_clients load =
  load.ending <- true;
  Lwt.wakeup_later load.end_ ()

let end_load load =
  tell_clients load;
  load.clients

(* --- The database --- *)

let or_fail = Caqti_lwt.or_fail
let statement text = Caqti.Templater.(static T.(unit -->. unit)) text

let with_connection child f =
  let* connection =
    Lwt.bind
      (Caqti_lwt_unix.connect (Uri.of_string (Child.database child)))
      or_fail
  in
  let module Db = (val connection : Caqti_lwt.CONNECTION) in
  Lwt.finalize
    (fun () -> f (fun text -> Lwt.bind (Db.exec (statement text) ()) or_fail))
    Db.disconnect

(* With this lock a statement fails at once in SQLite, but waits in PostgreSQL. *)
let locking database =
  if String.starts_with ~prefix:"sqlite3:" database then [ "BEGIN EXCLUSIVE" ]
  else [ "BEGIN"; "LOCK TABLE jobs" ]

let with_locked child f =
  let* connection =
    Lwt.bind
      (Caqti_lwt_unix.connect (Uri.of_string (Child.database child)))
      or_fail
  in
  let module Db = (val connection : Caqti_lwt.CONNECTION) in
  let exec text = Lwt.map Result.is_ok (Db.exec (statement text) ()) in
  Lwt.finalize
    (fun () ->
      let* () =
        Lwt_list.iter_s
          (fun text -> poll "the lock" (fun () -> exec text))
          (locking (Child.database child))
      in
      Lwt.finalize f (fun () ->
          (* [disconnect] alone may keep the lock for a while. *)
          poll "the end of the lock" (fun () -> exec "ROLLBACK")))
    Db.disconnect

let with_store child f =
  let* store = Store.connect (Child.database child) in
  Lwt.finalize (fun () -> f store) (fun () -> Store.close store)

(* --- The end under load --- *)

let count name counts = Option.value (List.assoc_opt name counts) ~default:0

(* [lost] are the jobs whose outcome could not be stored. *)
let check_books ~lost (ended : Child.ended) accepted store =
  let metric name = count name ended.metrics in
  check_int "accepted = done + failed + cancelled" (metric "accepted")
    (metric "done" + metric "failed" + metric "cancelled");
  check_int "unknown" 0 (metric "unknown");
  let* rows = Store.counts store in
  check_int "done" (metric "done") (count "done" rows);
  check_int "failed" (metric "failed") (count "failed" rows + lost);
  check_int "cancelled" (metric "cancelled") (count "cancelled" rows);
  let+ found = Lwt_list.map_s (fun id -> Store.find id store) accepted in
  let missing = List.filter Option.is_none found in
  if List.length missing > lost then
    Alcotest.failf "%d of %d accepted jobs have no row, of which %d are lost"
      (List.length missing) (List.length accepted) lost

(* In seconds. A loaded machine may need this much more than the grace period. *)
let margin = 20.

(* Waits until jobs queue up, because the workers wait for the database. *)
let jobs_queue_up child () =
  let+ answer = Client.get (Child.port child) "/metrics" in
  match answer with
  | Some { body; _ } -> count "queued" (Child.metrics body) >= 4
  | None -> false

let stop_under_load ?(options = []) ?database ?program ?lock random ~domains
    ~grace ~n =
  let child =
    Child.start ?database ?program
      (Printf.sprintf "--domains=%d" domains
      :: Printf.sprintf "--grace=%g" grace
      :: "--workers=2" :: "--capacity=16" :: options)
  in
  Lwt_main.run
    (let load = start_load random child ~clients:24 ~n in
     let* () = answered load (10 + Random.State.int random 100) in
     let terminate () =
       Child.terminate child;
       Lwt.return_unit
     and await_end () = Child.await_end child ~within:(grace +. margin) in
     let stuck_then_terminate () =
       let* () = poll "jobs that wait" (jobs_queue_up child) in
       terminate ()
     in
     let* ended =
       match lock with
       | None ->
           let* () = terminate () in
           await_end ()
       | Some `Past_the_signal ->
           let* () = with_locked child stuck_then_terminate in
           await_end ()
       | Some `Past_the_end ->
           with_locked child (fun () ->
               let* () = stuck_then_terminate () in
               await_end ())
     in
     let* () = end_load load in
     let lost =
       List.length
         (List.filter (String.starts_with ~prefix:"job ") ended.complaints)
     in
     if lost <> List.length ended.complaints then
       Alcotest.failf "it complained: %s" (String.concat "\n" ended.complaints);
     if lock <> Some `Past_the_end then check_int "lost" 0 lost;
     with_store child (check_books ~lost ended load.accepted))

(* --- What remains after the loads --- *)

let loads random ~domains =
  let child =
    Child.start ~in_memory:true
      [ Printf.sprintf "--domains=%d" domains; "--workers=2" ]
  in
  let one_load () =
    let load = start_load random child ~clients:16 ~n:10_000 in
    let* () = answered load 700 in
    end_load load
  in
  Lwt_main.run
    (let sockets = Child.sockets child in
     (* During the first load the heap grows to its usual size, and the last domain starts. *)
     let* () = one_load () in
     let* () =
       poll "the end of all connections" (fun () ->
           Lwt.return (Child.sockets child <= sockets))
     in
     let before = Child.descriptors child in
     let load_and_look _ =
       let* () = one_load () in
       let+ () =
         poll "the descriptors of before" (fun () ->
             Lwt.return (Child.descriptors child <= before))
       in
       Child.resident_kb child
     in
     let* resident = Lwt_list.map_s load_and_look [ 1; 2; 3 ] in
     Child.terminate child;
     let+ _ = Child.await_end child ~within:(10. +. margin) in
     resident)
