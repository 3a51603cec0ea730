open Case
open Lwt_and_eio

(* --- A hand-made inbox ---------------------------------------------------- *)

(* What a program needs without Concord. Any domain pushes a job for Lwt's domain, and notifies
   Lwt's loop. *)
module Inbox = struct
  type t = {
    mutex : Mutex.t;
    jobs : (unit -> unit) Queue.t;
    notification : Lwt_unix.notification;
  }

  let create () =
    let mutex = Mutex.create () and jobs = Queue.create () in
    let take () = Mutex.protect mutex (fun () -> Queue.pop jobs) in
    let notification = Lwt_unix.make_notification (fun () -> take () ()) in
    { mutex; jobs; notification }

  let post t job =
    Mutex.protect t.mutex (fun () -> Queue.push job t.jobs);
    Lwt_unix.send_notification t.notification

  let close t = Lwt_unix.stop_notification t.notification

  let using f =
    let t = create () in
    Fun.protect ~finally:(fun () -> close t) (fun () -> f t)
end

(* --- Two tasks ------------------------------------------------------------ *)

let serial_lwt n =
  let box = Lwt_mvar.create_empty () in
  Peers.serial_lwt ~push:(Lwt_mvar.put box)
    ~next:(fun () -> Lwt_mvar.take box)
    n

let serial_concord n =
  let open Concord_lwt in
  let box = Mvar.create_empty () in
  Peers.serial_lwt ~push:(Mvar.put box) ~next:(fun () -> Mvar.take box) n

let serial =
  let case = "serial" in
  {
    title = "one message of a producer to a consumer, two tasks of Lwt";
    baseline = row ~case ~impl:"lwt" ~host:"lwt" (Time serial_lwt);
    others = [ row ~case ~impl:"concord" ~host:"lwt" (Time serial_concord) ];
  }

(* --- Lwt's domain and one of Eio ------------------------------------------ *)

let eio_to_lwt_concord n =
  let box = Concord.Mvar.create_empty () in
  between
    ~eio:(produce (Concord.Mvar.put box))
    ~lwt:(consume_lwt (fun () -> Concord_lwt.Mvar.take box))
    n

let lwt_to_eio_concord n =
  let box = Concord.Mvar.create_empty () in
  between
    ~eio:(consume (fun () -> Concord.Mvar.take box))
    ~lwt:(produce_lwt (Concord_lwt.Mvar.put box))
    n

(* The box belongs to Lwt. Eio requests the operation, and waits until it has ended. *)
let ask inbox operation =
  let promise, resolver = Eio.Promise.create () in
  Inbox.post inbox (fun () ->
      Lwt.on_success (operation ()) (Eio.Promise.resolve resolver));
  Eio.Promise.await promise

let eio_to_lwt_naive n =
  Inbox.using @@ fun inbox ->
  let box = Lwt_mvar.create_empty () in
  between
    ~eio:(produce (fun i -> ask inbox (fun () -> Lwt_mvar.put box i)))
    ~lwt:(consume_lwt (fun () -> Lwt_mvar.take box))
    n

let lwt_to_eio_naive n =
  Inbox.using @@ fun inbox ->
  let box = Lwt_mvar.create_empty () in
  between
    ~eio:(consume (fun () -> ask inbox (fun () -> Lwt_mvar.take box)))
    ~lwt:(produce_lwt (Lwt_mvar.put box))
    n

let between_case case title ~naive ~concord =
  {
    title;
    baseline = row ~case ~impl:"naive" ~host:"eio-lwt" (Time naive);
    others = [ row ~case ~impl:"concord" ~host:"eio-lwt" (Time concord) ];
  }

let eio_to_lwt =
  between_case "eio-to-lwt"
    "one message of an Eio fiber to a task of Lwt, each on its own domain \
     (naive: Lwt_mvar, and an inbox with one notification for each message)"
    ~naive:eio_to_lwt_naive ~concord:eio_to_lwt_concord

let lwt_to_eio =
  between_case "lwt-to-eio" "the same, the other way" ~naive:lwt_to_eio_naive
    ~concord:lwt_to_eio_concord

(* --- A crowd -------------------------------------------------------------- *)

(* Measures from the moment when the other domain begins to wake the tasks until all of them
   have continued. *)
let burst_round ~wait ~wake ~tasks =
  let start = ref (Meter.now ()) and continued = ref 0 in
  let all, ended = Lwt.wait () in
  let go_on () =
    incr continued;
    if !continued = tasks then Lwt.wakeup ended (Meter.ns_since !start)
  in
  for i = 1 to tasks do
    Lwt.on_success (wait i) go_on
  done;
  Host.check "tasks that did not wait" 0 !continued;
  Gc.full_major ();
  let other =
    Domain.spawn (fun () ->
        start := Meter.now ();
        wake ())
  in
  let ns = Lwt_main.run all in
  Domain.join other;
  ns

let burst round ~tasks n =
  let rounds = (n + tasks - 1) / tasks in
  let ns = ref 0. in
  ignore (round ~tasks : float);
  for _ = 1 to rounds do
    ns := !ns +. round ~tasks
  done;
  !ns *. float_of_int n /. float_of_int (rounds * tasks)

let burst_concord ~tasks =
  let promise = Concord.Promise.create () in
  burst_round ~tasks
    ~wait:(fun _ -> Concord_lwt.to_lwt promise)
    ~wake:(fun () -> Concord.Promise.fill promise ())

let burst_naive ~tasks =
  Inbox.using @@ fun inbox ->
  let waiting = ref [] in
  let wait _ =
    let promise, resolver = Lwt.wait () in
    waiting := resolver :: !waiting;
    promise
  and wake () =
    List.iter
      (fun resolver -> Inbox.post inbox (Lwt.wakeup resolver))
      (List.rev !waiting)
  in
  burst_round ~tasks ~wait ~wake

let burst =
  let tasks = 10_000 in
  let case = Printf.sprintf "burst-%d" tasks in
  {
    title =
      Printf.sprintf
        "one of %d tasks of Lwt that wait, from when another domain begins to \
         wake them until all have continued"
        tasks;
    baseline =
      row ~case ~impl:"naive" ~host:"lwt" (Crowd (tasks, burst burst_naive));
    others =
      [
        row ~case ~impl:"concord" ~host:"lwt"
          (Crowd (tasks, burst burst_concord));
      ];
  }

(* --- Jobs for another domain ---------------------------------------------- *)

(* Each job returns its number, which is checked. *)
let offloaded detach n =
  let last = ref 0 in
  let next () =
    incr last;
    let i = !last in
    detach (fun () -> Sys.opaque_identity i)
  in
  Lwt_main.run (consume_lwt next meeting);
  last := 0;
  let start = Meter.now () in
  Lwt_main.run (consume_lwt next n);
  Meter.ns_since start

let offload_lwt = offloaded (fun job -> Lwt_preemptive.detach job ())

let offload_concord n =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Concord_domainslib.attach pool;
  Fun.protect ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
  @@ fun () ->
  offloaded
    (fun job -> Concord_lwt.to_lwt (Concord_domainslib.submit pool job))
    n

(* A domain that waits for jobs, and notifies Lwt's loop of each result. *)
module Worker_domain = struct
  type t = {
    mutex : Mutex.t;
    there_is_work : Condition.t;
    jobs : (unit -> unit) option Queue.t;
  }

  let push t job =
    Mutex.protect t.mutex (fun () ->
        Queue.push job t.jobs;
        Condition.signal t.there_is_work)

  let rec pop t =
    match Queue.take_opt t.jobs with
    | Some job -> job
    | None ->
        Condition.wait t.there_is_work t.mutex;
        pop t

  let rec serve t =
    match Mutex.protect t.mutex (fun () -> pop t) with
    | None -> ()
    | Some job ->
        job ();
        serve t

  let using f =
    let mutex = Mutex.create () and there_is_work = Condition.create () in
    let t = { mutex; there_is_work; jobs = Queue.create () } in
    let domain = Domain.spawn (fun () -> serve t) in
    let finally () =
      push t None;
      Domain.join domain
    in
    Fun.protect ~finally (fun () -> f t)

  let detach t inbox job =
    let promise, resolver = Lwt.wait () in
    push t
      (Some
         (fun () ->
           let result = job () in
           Inbox.post inbox (fun () -> Lwt.wakeup resolver result)));
    promise
end

let offload_naive n =
  Inbox.using @@ fun inbox ->
  Worker_domain.using @@ fun t -> offloaded (Worker_domain.detach t inbox) n

let offload =
  let case = "offload" in
  {
    title =
      "a job of a task of Lwt for another domain (lwt: for a thread of the \
       same, Lwt_preemptive), and its result back (naive: a queue for the \
       domain, and an inbox with one notification for each result)";
    baseline = row ~case ~impl:"naive" ~host:"lwt" (Time offload_naive);
    others =
      [
        row ~case ~impl:"lwt" ~host:"lwt" (Time offload_lwt);
        row ~case ~impl:"concord" ~host:"lwt" (Time offload_concord);
      ];
  }

let group =
  {
    name = "lwt";
    doc = "Lwt: between its tasks, and with other domains";
    comparisons = beside [ serial ] @ [ eio_to_lwt; lwt_to_eio; burst; offload ];
  }
