open Case
open Concord

(* Every implementation runs the same loops. The producer puts the messages, and the consumer
   takes them. The consumer reads the clock before the first message and after the last one. *)

let mvar_put box n =
  for i = 1 to n do
    Mvar.put box i
  done

let mvar_take box n =
  for _ = 1 to n do
    ignore (Mvar.take box : int)
  done

let stream_add stream n =
  for i = 1 to n do
    Eio.Stream.add stream i
  done

let stream_take stream n =
  for _ = 1 to n do
    ignore (Eio.Stream.take stream : int)
  done

(* On one domain *)

let serial_fifo n =
  Concord_fifo.run (fun () ->
      let box = Mvar.create_empty () in
      let start = Meter.now () in
      ignore
        (Concord_fifo.fork (fun () -> mvar_put box n) : Concord_fifo.handle);
      mvar_take box n;
      Meter.ns_since start)

let serial_eio put take box n =
  Eio_main.run (fun _ ->
      Eio.Switch.run (fun sw ->
          let start = Meter.now () in
          Eio.Fiber.fork ~sw (fun () -> put box n);
          take box n;
          Meter.ns_since start))

let serial_lwt n =
  let box = Lwt_mvar.create_empty () in
  (* The counters are outside the loops, so that the loops allocate no closure. *)
  let to_put = ref n and to_take = ref n in
  let rec put () =
    if !to_put = 0 then Lwt.return_unit
    else (
      decr to_put;
      Lwt.bind (Lwt_mvar.put box !to_put) put)
  in
  let rec take (_ : int) =
    if !to_take = 0 then Lwt.return_unit
    else (
      decr to_take;
      Lwt.bind (Lwt_mvar.take box) take)
  in
  let start = Meter.now () in
  let producer = put () in
  Lwt_main.run (take 0);
  let ns = Meter.ns_since start in
  Lwt_main.run producer;
  ns

let mvar_eio n = serial_eio mvar_put mvar_take (Mvar.create_empty ()) n
let stream_eio n = serial_eio stream_add stream_take (Eio.Stream.create 1) n

let serial ?(more = []) case ~title sample =
  {
    title;
    baseline = row ~case ~impl:"eio" ~host:"eio" (sample stream_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (sample serial_fifo);
        row ~case ~impl:"concord" ~host:"eio" (sample mvar_eio);
        row ~case ~impl:"concord" ~host:"eio-unlinked" ~program:Unlinked
          (sample mvar_eio);
        row ~case ~impl:"lwt" ~host:"lwt" (sample serial_lwt);
        picos case (sample measured_elsewhere);
        async case (sample measured_elsewhere);
      ]
      @ more;
  }

(* On two domains, each with its own scheduler. Lwt has no such case, because its loop and its
   promises belong to one domain. *)

(* This number of messages passes before the clock is read. By then both domains run, their
   loops are in step, and their minor heaps are mapped. *)
let meeting = 1_000

let parallel run put take box n =
  let producer =
    Domain.spawn (fun () ->
        run (fun () ->
            put box (meeting + n);
            0.))
  in
  let ns =
    run (fun () ->
        take box meeting;
        let start = Meter.now () in
        take box n;
        Meter.ns_since start)
  in
  ignore (Domain.join producer : float);
  ns

let in_fifo f = Concord_fifo.run f
let in_eio f = Eio_main.run (fun _ -> f ())
let in_host (host : Host.t) f = host.run (fun _ -> f ())

let mvar_between run n =
  parallel run mvar_put mvar_take (Mvar.create_empty ()) n

let stream_between run n =
  parallel run stream_add stream_take (Eio.Stream.create 1) n

(* --- The lower bound for two domains --------------------------------------------

   Two domains exchange the same messages by spinning at one atomic. There is no queue, and no task
   sleeps, is cancelled, or lets other tasks run. *)

type bare = Nothing of unit list | Message of int * unit list

let nothing = Nothing []

let rec bare_put box message =
  if
    not (Atomic.get box == nothing && Atomic.compare_and_set box nothing message)
  then begin
    Domain.cpu_relax ();
    bare_put box message
  end

let bare_puts box n =
  for i = 1 to n do
    let message = Message (i, []) in
    bare_put box message
  done

let rec bare_take box =
  match Atomic.get box with
  | Message (i, _) as message when Atomic.compare_and_set box message nothing ->
      i
  | Message _ | Nothing _ ->
      Domain.cpu_relax ();
      bare_take box

let bare_takes box n =
  for _ = 1 to n do
    ignore (bare_take box : int)
  done

let bare_between n =
  parallel (fun f -> f ()) bare_puts bare_takes (Atomic.make nothing) n

let parallel ?(more = []) case ~title sample =
  {
    title;
    baseline =
      row ~case ~impl:"eio" ~host:"eio" (sample (stream_between in_eio));
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (sample (mvar_between in_fifo));
        row ~case ~impl:"concord" ~host:"eio" (sample (mvar_between in_eio));
        row ~case ~impl:"concord" ~host:"eio-unlinked" ~program:Unlinked
          (sample (mvar_between in_eio));
        picos case (sample measured_elsewhere);
      ]
      @ more;
  }

let time f = Time f

(* The table of the paper has microseconds. *)
let counted operations f = counted Figure.us operations (warmed_up f)

let one_domain =
  let case = "serial" in
  serial case time
    ~more:[ go case; tokio case ]
    ~title:
      "one message of a producer to a consumer, two tasks on 1 domain (picos: \
       a field between two semaphores; go, tokio: a channel of capacity 1)"

let two_domains =
  let case = "parallel" in
  let between on = mvar_between (in_host on) in
  parallel case time
    ~title:
      "the same, one task on each of 2 domains (bare: two domains that spin at \
       an atomic)"
    ~more:
      (Ours.rows ~case [ ("domain", Host.domain) ] between
      @ [
          row ~case ~impl:"bare" ~host:"domain" (Time bare_between);
          go case;
          tokio case;
        ])

(* Both rows are in one comparison, because messages between domains are compared with messages
   on one domain. *)
let table_1 =
  let { baseline; others; _ } =
    serial "table1-serial" ~title:""
      (counted { full = 1_000_000; quick = 200_000; least = 1_000 })
  and between =
    parallel "table1-parallel" ~title:""
      (counted { full = 300_000; quick = 20_000; least = 1_000 })
  in
  {
    title =
      "Table 1: one of 1,000,000 messages (serial) or 300,000 (parallel); with \
       --quick 200,000 or 20,000; picos: a field between two semaphores";
    baseline;
    others = others @ rows between;
  }

let comparisons = beside [ one_domain ] @ [ two_domains; table_1 ]

let group =
  {
    name = "mvar";
    doc =
      "Mvar against Eio.Stream of capacity 1, Lwt_mvar, and those of Picos and \
       Async";
    comparisons;
  }
