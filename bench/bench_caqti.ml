open Case
open Caqti_query

(* --- A crossing made by hand ------------------------------------------------ *)

(* What a program needs to call Lwt's loop from another domain without Concord. As in
   examples/service/plain, only the job that finds the inbox empty notifies the loop. *)
module By_hand = struct
  type t = {
    mutex : Mutex.t;
    inbox : (unit -> unit) Queue.t;  (** Protected by the mutex. *)
    notification : Lwt_unix.notification;
  }

  let create () =
    let mutex = Mutex.create () and inbox = Queue.create () in
    let take_all () =
      let jobs = Queue.create () in
      Mutex.protect mutex (fun () -> Queue.transfer inbox jobs);
      Queue.iter (fun job -> job ()) jobs
    in
    { mutex; inbox; notification = Lwt_unix.make_notification take_all }

  let push t job =
    let was_empty =
      Mutex.protect t.mutex (fun () ->
          let was_empty = Queue.is_empty t.inbox in
          Queue.add job t.inbox;
          was_empty)
    in
    if was_empty then Lwt_unix.send_notification t.notification

  let call t f =
    let promise, resolver = Eio.Promise.create () in
    push t (fun () ->
        Lwt.on_any (f ())
          (Eio.Promise.resolve_ok resolver)
          (Eio.Promise.resolve_error resolver));
    Eio.Promise.await_exn promise

  let using f =
    let t = create () in
    Fun.protect
      (fun () -> f t)
      ~finally:(fun () -> Lwt_unix.stop_notification t.notification)
end

(* --- Clients ---------------------------------------------------------------- *)

(* The number of queries that are done before the clock is read. By then each connection and
   each thread has been made, and each connection has prepared its statement. *)
let meeting = 500
let key i = 1 + (i mod rows)

(* Each client asks its next question when the previous one is answered. *)
let fibers ~clients find n =
  let asked = ref 0 in
  let rec client () =
    let i = !asked in
    if i < n then begin
      incr asked;
      let key = key i in
      Host.check "value" (key + 1) (find key);
      client ()
    end
  in
  Eio.Fiber.all (List.init clients (fun _ -> client))

let tasks ~clients find n =
  let asked = ref 0 in
  let rec client () =
    let i = !asked in
    if i < n then begin
      incr asked;
      let key = key i in
      Lwt.bind (find key) (fun value ->
          Host.check "value" (key + 1) value;
          client ())
    end
    else Lwt.return_unit
  in
  Lwt.join (List.init clients (fun _ -> client ()))

(* One process takes all samples of a row, so they share the pool of connections. *)
let database { connect; _ } = lazy (Lwt_main.run (connect ()))

let in_lwt queries db ~clients n =
  let find = queries.find (Lazy.force db) in
  Lwt_main.run (tasks ~clients find meeting);
  let start = Meter.now () in
  Lwt_main.run (tasks ~clients find n);
  Meter.ns_since start

(* Lwt's loop runs in the first domain, as in the other rows, because the threads of
   [Lwt_preemptive] never end. *)
let from_eio queries db ~clients call n =
  let find key = call (fun () -> queries.find (Lazy.force db) key) in
  ignore (Lazy.force db : db);
  let ended, end_ = Lwt.wait () in
  let notification = Lwt_unix.make_notification ~once:true (Lwt.wakeup end_) in
  let other =
    Domain.spawn @@ fun () ->
    Fun.protect ~finally:(fun () -> Lwt_unix.send_notification notification)
    @@ fun () ->
    Eio_main.run @@ fun _ ->
    fibers ~clients find meeting;
    let start = Meter.now () in
    fibers ~clients find n;
    Meter.ns_since start
  in
  Lwt_main.run ended;
  Domain.join other

let by_hand queries db ~clients n =
  By_hand.using @@ fun t -> from_eio queries db ~clients (By_hand.call t) n

let concord queries db ~clients n =
  from_eio queries db ~clients (Concord_lwt.call Concord_lwt.the_loop) n

(* --- The comparisons -------------------------------------------------------- *)

let comparison queries clients =
  let db = database queries in
  let case = Printf.sprintf "query-%d" clients in
  let row impl host f = row ~case ~impl ~host (Time (f queries db ~clients)) in
  {
    title =
      Printf.sprintf
        "a query by caqti to SQLite for %d fibers of Eio, on another domain \
         than Lwt's loop (lwt: for tasks in the loop itself)"
        clients;
    baseline = row "by-hand" "eio-caqti" by_hand;
    others = [ row "concord" "eio-caqti" concord; row "lwt" "caqti" in_lwt ];
  }

let group =
  {
    name = "caqti";
    doc = "a query to SQLite by caqti, from Lwt and from fibers of Eio";
    comparisons =
      (match queries with
      | Some queries -> List.map (comparison queries) [ 4; 16 ]
      | None -> []);
  }
