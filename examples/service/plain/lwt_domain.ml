open Lwt.Syntax

type 'r t = {
  mutex : Mutex.t;
  inbox : ('r -> unit) Queue.t;  (** Protected by the mutex. *)
  notification : Lwt_unix.notification;
}

(* One notification is enough for all jobs in the inbox, so only the first job sends one. *)
let push t job =
  let was_empty =
    Mutex.protect t.mutex (fun () ->
        let was_empty = Queue.is_empty t.inbox in
        Queue.add job t.inbox;
        was_empty)
  in
  if was_empty then Lwt_unix.send_notification t.notification

(* If the caller is cancelled, so is the promise of [f r]. The caller waits for its end all the
   same, because it may have an outcome nevertheless. Both jobs run in Lwt's domain, in this
   order. *)
let call t f =
  let promise, resolver = Eio.Promise.create () in
  let running = ref Lwt.return_unit in
  push t (fun r ->
      let outcome = Lwt.apply f r in
      running := Lwt.map ignore outcome;
      Lwt.on_any outcome
        (Eio.Promise.resolve_ok resolver)
        (Eio.Promise.resolve_error resolver));
  try Eio.Promise.await_exn promise
  with Eio.Cancel.Cancelled _ as e -> (
    push t (fun _ -> Lwt.cancel !running);
    match Eio.Cancel.protect (fun () -> Eio.Promise.await promise) with
    | Ok v -> v
    | Error Lwt.Canceled -> raise e
    | Error e -> raise e)

(* Creates the notification in the domain that runs the loop, because a notification belongs to
   the loop of its domain. *)
let loop_of value =
  let mutex = Mutex.create () and inbox = Queue.create () in
  let take_all () =
    let jobs = Queue.create () in
    Mutex.protect mutex (fun () -> Queue.transfer inbox jobs);
    Queue.iter (fun job -> job value) jobs
  in
  { mutex; inbox; notification = Lwt_unix.make_notification take_all }

(* The domain is not joined, because it can't end before its threads do. The threads of
   [Lwt_preemptive], which caqti uses, never end. *)
let with_domain ~close create f =
  let ready, set_ready = Eio.Promise.create ()
  and closed, set_closed = Eio.Promise.create () in
  let main () =
    let* value = create () in
    let stop, set_stop = Lwt.wait () in
    Eio.Promise.resolve_ok set_ready (loop_of value, set_stop);
    let* () = stop in
    close value
  in
  let domain () =
    match Lwt_main.run (main ()) with
    | () -> Eio.Promise.resolve_ok set_closed ()
    | exception e ->
        if Eio.Promise.is_resolved ready then
          Eio.Promise.resolve_error set_closed e
        else Eio.Promise.resolve_error set_ready e
  in
  ignore (Domain.spawn domain : unit Domain.t);
  let t, set_stop =
    Eio.Cancel.protect (fun () -> Eio.Promise.await_exn ready)
  in
  Fun.protect
    (fun () -> f t)
    ~finally:(fun () ->
      Eio.Cancel.protect (fun () ->
          push t (fun _ -> Lwt.wakeup_later set_stop ());
          Eio.Promise.await_exn closed))
