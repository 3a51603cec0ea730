open Concord.Tools
open Concord_trace

let second = 1_000_000_000
let tasks = 64
let places = 6
let waits ~seconds ~per_second = (seconds * per_second) + 1
let task n = { Trace.id = n; host = "eio"; name = Printf.sprintf "fiber %d" n }
let item ~at event = { Recorder.pid = 1; time_ns = at; event = Told event }

(* A wait, and the run before it. *)
let wait ~at ~for_ns ~number ~structure task =
  let domain = task.Trace.id mod 2 and by = { task with id = 1_000 } in
  let place = number mod places in
  let operation =
    [| "Mvar.take"; "Mutex.lock"; "Promise.await" |].(place / 2)
  in
  let line = Printf.sprintf "service.ml:%d" (10 + place) in
  [
    item ~at
      (Trace.Suspended
         { wait = number; task; domain; operation; structure; at = line });
    item
      ~at:(at + for_ns - 1_000)
      (Trace.Woken
         {
           wait = number;
           by = { by with name = "fiber 1000" };
           domain = 1 - domain;
           suspended_on = domain;
           ago_ns = 0;
         });
    item ~at:(at + for_ns)
      (Trace.Resumed { wait = number; task; domain; outcome = Returned });
  ]

let polls_per_second = 50

let iter ~seconds ~per_second ~poll f =
  let random = Random.State.make [| 7 |] in
  let between = second / per_second in
  f (item ~at:1 (Trace.Began { program = "minute" }));
  let give items =
    let by domain (item : Recorder.item) =
      match item.event with
      | Told (Suspended { domain = d; _ } | Woken { domain = d; _ })
      | Told (Resumed { domain = d; _ }) ->
          d = domain
      | Told _ | Lost _ | Paused _ -> false
    in
    let in_order =
      List.stable_sort
        (fun (a : Recorder.item) (b : Recorder.item) ->
          Int.compare a.time_ns b.time_ns)
        (List.concat items)
    in
    List.iter f (List.filter (by 0) in_order);
    List.iter f (List.filter (by 1) in_order);
    poll ()
  in
  (* A task waits at most until its next wait begins. *)
  let one number =
    let most = tasks * between * 9 / 10 in
    let for_ns =
      2_000 + Random.State.int random (1 + Random.State.int random most)
    in
    wait ~at:(number * between) ~for_ns ~number ~structure:""
      (task (number mod tasks))
  in
  let n = seconds * per_second and per_poll = per_second / polls_per_second in
  for poll = 0 to (n / per_poll) - 1 do
    let items = List.init per_poll (fun i -> one (1 + (poll * per_poll) + i)) in
    let rare =
      if poll = n / per_poll / 2 then
        wait
          ~at:(second * seconds / 2)
          ~for_ns:(second * 4 / 10)
          ~number:(n + 1) ~structure:"backup" (task 100)
      else []
    in
    give (rare :: items)
  done

let kept ~seconds ~per_second ~most =
  let kept = Kept.create ~most () and live = Live.create () in
  iter ~seconds ~per_second
    ~poll:(fun () -> Kept.trim kept)
    (fun item ->
      Kept.add kept item;
      Live.add live item);
  (kept, Live.profile live)
