open Case

(* Compares events with the operations that they stand for. *)

let sync box n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Concord.Event.sync (Concord.Mvar.take_evt box)
  done;
  !sum

let through_box host consume n =
  let box = Concord.Mvar.create_empty () in
  Host.serial host ~produce:(Passing.put box) ~consume:(consume box) n

let sync_serial =
  let case = "sync-serial" in
  let rows (name, host) =
    [
      row ~case ~impl:"no-event" ~host:name
        (Time (through_box host Passing.take));
      row ~case ~impl:"concord" ~host:name (Time (through_box host sync));
    ]
  in
  let all = List.concat_map rows Ours.two_tasks in
  {
    title =
      "one message through a box, by the event of taking it (concord) and by \
       taking it (no-event), two tasks on 1 domain";
    baseline = List.hd all;
    others = List.tl all;
  }

let through_channel_concord shape n =
  let open Concord.Event in
  let channel = new_channel () in
  let produce n =
    for i = 1 to n do
      sync (send channel i)
    done
  and consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + sync (receive channel)
    done;
    !sum
  in
  shape ~produce ~consume n

let through_channel_stdlib shape n =
  let open Event in
  let channel = new_channel () in
  let produce n =
    for i = 1 to n do
      sync (send channel i)
    done
  and consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + sync (receive channel)
    done;
    !sum
  in
  shape ~produce ~consume n

let sync_parallel =
  let case = "sync-parallel" in
  {
    title =
      "one message through a channel, by the events of sending and receiving, \
       one task on each of 2 domains";
    baseline =
      row ~case ~impl:"stdlib" ~host:"domain"
        (Time (through_channel_stdlib (Host.parallel Host.domain)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          through_channel_concord (Host.parallel host));
  }

(* Each side calls [meet ~send ~receive] [n] times. A call either sends a one or receives a
   one. Each side counts the ones that it has received. *)
let swap (host : Host.t) ~here ~there n =
  let received = ref 0 and ended = ref 0 in
  let side meet n =
    for _ = 1 to n do
      let i = meet () in
      received := !received + i
    done;
    incr ended
  in
  let ns =
    host.run (fun fork ->
        let start = Meter.now () in
        fork (fun () -> side there n);
        side here n;
        Meter.ns_since start)
  in
  Host.check "sides that ended" 2 !ended;
  Host.check "messages" n !received;
  ns

let swap_concord host n =
  let a = Concord.Channel.create () and b = Concord.Channel.create () in
  let between mine other =
    let send = Concord.Channel.send_evt mine 1 in
    [ Concord.Event.wrap send (fun () -> 0); Concord.Channel.receive_evt other ]
  in
  let here = between a b and there = between b a in
  swap host
    ~here:(fun () -> Concord.Event.select here)
    ~there:(fun () -> Concord.Event.select there)
    n

let swap_stdlib n =
  let a = Event.new_channel () and b = Event.new_channel () in
  let between mine other =
    [ Event.wrap (Event.send mine 1) (fun () -> 0); Event.receive other ]
  in
  let here = between a b and there = between b a in
  swap Host.thread
    ~here:(fun () -> Event.select here)
    ~there:(fun () -> Event.select there)
    n

let swap_serial =
  let case = "swap-serial" in
  {
    title =
      "one meeting of two tasks that both choose between sending on one \
       channel and receiving on the other, 1 domain";
    baseline = go case;
    others =
      Ours.rows ~case Ours.two_tasks swap_concord
      @ Ours.beside_stdlib ~case swap_concord swap_stdlib;
  }

let group =
  {
    name = "event";
    doc =
      "events, and what waits a limited time or tries again, against Eio, Lwt, \
       Stdlib and Go";
    comparisons =
      beside [ sync_serial ] @ [ sync_parallel ] @ Bench_select.comparisons
      @ beside [ swap_serial ] @ Bench_timeout.comparisons;
  }
