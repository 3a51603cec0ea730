(* Conditions without a mutex. The scenarios below are those of a state, which is an Atomic, and
   of tasks that wait for it, alone or in a choice. *)

open Actor

let rec take items () =
  match Atomic.get items with
  | 0 -> None
  | n ->
      if Atomic.compare_and_set items n (n - 1) then Some "ok"
      else take items ()

(* The wait in direct style, as an event, and in a choice with a box. *)
let direct name c items =
  make name (fun () -> Condition.loop_no_mutex c (take items))

let event name c items =
  make name (fun () -> Event.sync (Condition.loop_no_mutex_evt c (take items)))

let choice name c items box =
  make name (fun () ->
      Event.select
        [
          Condition.loop_no_mutex_evt c (take items);
          Event.wrap (Mvar.take_evt box) (fun () -> "box");
        ])

let wait name c =
  make name (fun () ->
      Condition.wait_no_mutex c;
      "woken")

(* A signal handler raises in the task after it was resumed, before it continues. *)
let interrupt_resumed f =
  let open Effect.Deep in
  let exception Interrupt in
  let effc (type a) (e : a Effect.t) :
      ((a, string) continuation -> string) option =
    match e with
    | Suspend.Suspend _ ->
        Some
          (fun k ->
            match Effect.perform e with
            | (_ : a) -> discontinue k Interrupt
            | exception e -> discontinue k e)
    | _ -> None
  in
  try try_with f () { effc } with Interrupt -> "interrupted"

let put_now c items =
  Atomically.update items succ;
  Condition.signal c

let put c items = Do (fun () -> put_now c items)

let broadcast c items =
  Do
    (fun () ->
      Atomically.update items succ;
      Condition.broadcast c)

let create () =
  Shuffle.seed := 0;
  Shuffle.most := 4;
  (Condition.create (), Atomic.make 0)

(* A task waits if and only if there is no item, and then it is in the queue. *)
let at_rest (c, items) actors () =
  all_queued actors [ live (Atomic.get c) ];
  let n = Atomic.get items in
  if n > 0 && count_waiting actors > 0 then
    failwith ("a wake-up was missed: " ^ describe actors);
  describe actors ^ " | " ^ string_of_int n

let check name make expect =
  Model.check name ~expect @@ fun () ->
  let ((c, items) as t) = create () in
  let first, processes = make c items in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

module Described_condition_alone = Described.Make (Groups.Of_condition)

let () =
  Described_condition_alone.some 20 ~at_rest:(fun c ->
      ignore (live (Atomic.get c) : int));
  Cancellations.check "loop" ~three:false
    [
      ("", fun _ name (c, items) -> direct name c items);
      (", an event", fun _ name (c, items) -> event name c items);
    ]
    ~create
    ~serve:(fun (c, items) -> put_now c items)
    ~served:"ok"
    ~rest:(function [] -> " | 1" | _ -> " | 0")
    ~at_rest;
  let both_ways name scenario expect =
    check (name ^ ", direct") (scenario direct) expect;
    check (name ^ ", an event") (scenario event) expect
  in
  both_ways "one comes, an item"
    (fun loop c items -> ([], [ Run (loop "a" c items); put c items ]))
    [ "a=ok | 0" ];
  both_ways "one waits, another comes, an item"
    (fun loop c items ->
      let a = loop "a" c items and b = loop "b" c items in
      ([ a ], [ Run b; put c items ]))
    [ "a=ok b=waits | 0"; "a=waits b=ok | 0" ];
  both_ways "one waits, another comes, a broadcast"
    (fun loop c items ->
      let a = loop "a" c items and b = loop "b" c items in
      ([ a ], [ Run b; broadcast c items ]))
    [ "a=ok b=waits | 0"; "a=waits b=ok | 0" ];
  (* A second task starts to wait while the first one finds what it wants. Any later signal
     must reach the second task. *)
  let unneeded name loop =
    Model.check name ~expect:[ "early waits"; "early woken"; "late woken" ]
    @@ fun () ->
    let c = Condition.create () and is_there = Atomic.make false in
    let w = wait "w" c and late = ref false in
    let look () =
      run w;
      Atomic.set is_there true;
      Some "ok"
    in
    let signal () =
      late := Atomic.get is_there;
      Condition.signal c
    in
    let processes, actors =
      start [] [ Run (make "a" (fun () -> loop c look)); Do signal ]
    in
    ( processes,
      fun () ->
        all_queued (w :: actors) [ live (Atomic.get c) ];
        (if !late then "late " else "early ") ^ w.result )
  in
  unneeded "a signal that the first one does not need, direct"
    Condition.loop_no_mutex;
  unneeded "a signal that the first one does not need, an event" (fun c f ->
      Event.sync (Condition.loop_no_mutex_evt c f));
  check "a choice with a box comes, an item and the box is filled"
    (fun c items ->
      let box = Mvar.create_empty () in
      let a = choice "a" c items box in
      ([], [ Run a; put c items; Do (fun () -> ignore (Mvar.try_put box ())) ]))
    [ "a=box | 1"; "a=ok | 0" ];
  check
    "a choice with a box waits, one behind it, an item and the box is filled"
    (fun c items ->
      let box = Mvar.create_empty () in
      let a = choice "a" c items box and b = direct "b" c items in
      ([ a; b ], [ put c items; Do (fun () -> ignore (Mvar.try_put box ())) ]))
    [ "a=box b=ok | 0"; "a=ok b=waits | 0" ];
  (* A signal handler raises in the first task as soon as it was resumed, while another task
     waits behind it. The waker may see before or after the exception that the resumer has
     accepted. In both cases the signal must reach the other task. *)
  check "one that waits is interrupted when resumed or cancelled, one behind it"
    (fun c items ->
      let loop () = Condition.loop_no_mutex c (take items) in
      let a = make "a" (fun () -> interrupt_resumed loop)
      and b = direct "b" c items in
      ([ a; b ], [ put c items; Cancel a ]))
    [ "a=cancelled b=ok | 0"; "a=interrupted b=ok | 0" ];
  let interrupted name loop =
    Model.check name ~expect:[ "a=interrupted b=woken"; "a=waits b=waits" ]
    @@ fun () ->
    let c = Condition.create () in
    let b = wait "b" c and looks = ref 0 in
    let look () =
      incr looks;
      if !looks = 1 then run b;
      None
    in
    let a = make "a" (fun () -> interrupt_resumed (fun () -> loop c look)) in
    let signal () = Condition.signal c in
    let processes, actors = start [] [ Run a; Do signal ] in
    ( processes,
      fun () ->
        all_queued (b :: actors) [ live (Atomic.get c) ];
        describe (actors @ [ b ]) )
  in
  interrupted "one that comes is interrupted when resumed, direct"
    Condition.loop_no_mutex;
  interrupted "one that comes is interrupted when resumed, an event" (fun c f ->
      Event.sync (Condition.loop_no_mutex_evt c f));
  Model.finish ()
