open Case

let key : int Concord.Local.t = Concord.Local.create ()
let eio_key : int Eio.Fiber.key = Eio.Fiber.create_key ()
let lwt_key : int Lwt.key = Lwt.new_key ()
let bound v f = Concord.Local.with_binding key v f

let times f n =
  for _ = 1 to n do
    ignore (Sys.opaque_identity (f ()) : int option)
  done

let get () = Concord.Local.get key
let eio_get () = Eio.Fiber.get eio_key
let lwt_get () = Lwt.get lwt_key

(* Before the first wait, the library doesn't know the host yet. *)
let on (host : Host.t) f n =
  host.run (fun _ ->
      Concord.Tasks.yield ();
      let start = Meter.now () in
      bound 1 (fun () -> times f n);
      Meter.ns_since start)

let eio_own n =
  Host.alone Host.eio
    (fun n -> Eio.Fiber.with_binding eio_key 1 (fun () -> times eio_get n))
    n

let in_lwt f n =
  Concord_lwt.run (fun () ->
      Concord_lwt.direct (fun () ->
          let start = Meter.now () in
          f n;
          Meter.ns_since start))

let lwt_own =
  in_lwt (fun n -> Lwt.with_value lwt_key (Some 1) (fun () -> times lwt_get n))

let lwt = in_lwt (fun n -> bound 1 (fun () -> times get n))

let in_job n =
  Concord.Workers.with_workers ~domains:1 (fun workers ->
      Concord.Workers.run workers (fun () ->
          let start = Meter.now () in
          bound 1 (fun () -> times get n);
          Meter.ns_since start))

let getting =
  let case = "local-get" in
  let row impl host f = row ~case ~impl ~host (Time f) in
  {
    title = "reading a value that is bound to the task";
    baseline = row "eio" "eio" eio_own;
    others =
      [
        row "concord" "eio" (on Host.eio get);
        row "concord" "fifo" (on Host.fifo get);
        row "concord" "thread" (on Host.domain get);
        row "concord" "job" in_job;
        row "lwt" "lwt" lwt_own;
        row "concord" "lwt" lwt;
      ];
  }

(* What a wait costs while a value is bound. *)
let message host ~is_bound n =
  let box = Concord.Mvar.create_empty () in
  let within f = if is_bound then bound 1 f else f () in
  Host.serial host
    ~produce:(fun n ->
      within (fun () ->
          for i = 1 to n do
            Concord.Mvar.put box i
          done))
    ~consume:(fun n ->
      within (fun () ->
          let sum = ref 0 in
          for _ = 1 to n do
            sum := !sum + Concord.Mvar.take box
          done;
          !sum))
    n

let waiting =
  let case = "local-wait" in
  let row impl host f = row ~case ~impl ~host (Time f) in
  {
    title =
      "one message of a producer to a consumer, with a value bound to both";
    baseline = row "unbound" "fifo" (message Host.fifo ~is_bound:false);
    others =
      [
        row "bound" "fifo" (message Host.fifo ~is_bound:true);
        row "unbound" "eio" (message Host.eio ~is_bound:false);
        row "bound" "eio" (message Host.eio ~is_bound:true);
      ];
  }

let group =
  {
    name = "local";
    doc = "values that follow a task, beside Eio's and Lwt's own";
    comparisons = [ getting; waiting ];
  }
