open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom

let always () =
  int "sync" 3 (Event.sync (Event.always 3));
  yes "poll" (Event.poll (Event.always 3) = Some 3)

let many_times () =
  let box = Mvar.create 1 in
  let take = Mvar.take_evt box in
  int "first" 1 (Event.sync take);
  yes "poll does nothing" (Event.poll take = None && Mvar.waiters box = 0);
  Mvar.put box 2;
  yes "second" (Event.poll take = Some 2);
  Mvar.put box 3;
  int "third" 3 (Event.sync take)

let made_is_lazy () =
  let box = Mvar.create_empty () in
  ignore (Event.wrap (Mvar.put_evt box 1) (fun () -> assert false));
  yes "an event is only a value" (Mvar.is_empty box)

let wrapped () =
  traced [ "f 1"; "g 2" ] @@ fun say ->
  let f n =
    say (Printf.sprintf "f %d" n);
    n + 1
  and g n =
    say (Printf.sprintf "g %d" n);
    string_of_int n
  in
  let box = Mvar.create_empty () in
  let event = Event.wrap (Event.wrap (Mvar.take_evt box) f) g in
  yes "poll of what must wait calls nothing" (Event.poll event = None);
  let task = Hand.start (fun () -> Event.sync event) in
  Mvar.put box 1;
  Hand.settle ();
  Alcotest.(check string) "value" "2" (Hand.result task)

let wrapped_may_suspend () =
  let box = Mvar.create 1 and gate = Promise.create () in
  let event =
    Event.wrap (Mvar.take_evt box) (fun n -> n + Promise.await gate)
  in
  let task = Hand.start (fun () -> Event.sync event) in
  yes "the operation was performed" (Mvar.is_empty box);
  int "it waits for the gate" 1 (Promise.waiters gate);
  Promise.fill gate 10;
  Hand.settle ();
  int "value" 11 (Hand.result task)

let wrapped_cancelled () =
  let box = Mvar.create 1 and gate = Promise.create () in
  let event = Event.wrap (Mvar.take_evt box) (fun _ -> Promise.await gate) in
  let task = Hand.start (fun () -> Event.sync event) in
  yes "cancel" (Hand.cancel task);
  Hand.settle ();
  raises "the task" Hand.Cancelled (fun () -> Hand.result task);
  yes "the operation stays performed" (Mvar.is_empty box);
  int "withdrawn from the gate" 0 (Promise.waiters gate)

let wrapped_raises () =
  let event = Event.wrap (Event.always ()) culprit in
  raises "sync" Boom (fun () -> Event.sync event);
  raises_at "culprit" (fun () -> Event.sync event);
  raises_at "culprit" (fun () -> Event.poll event)

(* An event whose calls are traced. *)
let spied say ~ready =
  let resumer = ref (fun _ -> false) in
  let poll () =
    say "poll";
    if ready then Some 1 else None
  and offer () =
    say "offer";
    let block () () r =
      say "block";
      resumer := r;
      None
    and withdraw () () = say "withdraw" in
    Event.offer block withdraw () ()
  in
  (Event.make ~poll ~offer, fun outcome -> !resumer outcome)

let ready_at_once () =
  traced [ "poll" ] @@ fun say ->
  let event, _ = spied say ~ready:true in
  int "value" 1 (Event.sync event)

let resumed () =
  traced [ "poll"; "offer"; "block" ] @@ fun say ->
  let event, resume = spied say ~ready:false in
  let task = Hand.start (fun () -> Event.sync event) in
  yes "resumed" (resume (Ok 2));
  no "cancelled too late" (Hand.cancel task);
  Hand.settle ();
  int "value" 2 (Hand.result task)

let cancelled () =
  traced [ "poll"; "offer"; "block"; "withdraw" ] @@ fun say ->
  let event, resume = spied say ~ready:false in
  let task = Hand.start (fun () -> Event.sync event) in
  yes "cancelled" (Hand.cancel task);
  no "resumed too late" (resume (Ok 2));
  Hand.settle ();
  raises "sync" Hand.Cancelled (fun () -> Hand.result task)

let resumed_with_an_exception () =
  let event, resume = spied ignore ~ready:false in
  let task = Hand.start (fun () -> Event.sync event) in
  yes "resumed" (resume (Error Boom));
  Hand.settle ();
  raises "sync" Boom (fun () -> Hand.result task)

let block_raises () =
  let withdrawn = ref 0 in
  let offer () =
    let block () () _ =
      culprit ();
      None
    and withdraw () () = incr withdrawn in
    Event.offer block withdraw () ()
  in
  let event = Event.make ~poll:(fun () -> None) ~offer in
  let task = Hand.start (fun () -> Event.sync event) in
  raises_at "culprit" (fun () -> Hand.result task);
  int "withdrawn" 1 !withdrawn

let each_sync_is_a_new_wait () =
  let box = Mvar.create_empty () in
  let event = Mvar.take_evt box in
  let first = Hand.start (fun () -> Event.sync event)
  and second = Hand.start (fun () -> Event.sync event) in
  int "both wait" 2 (Mvar.waiters box);
  Mvar.put box "a";
  Mvar.put box "b";
  Hand.settle ();
  strings "in order" [ "a"; "b" ] [ Hand.result first; Hand.result second ]

(* The holder's part runs in the task: before it, and if it raises, everyone else
   waits or finds the old value. *)
let swap_and_modify () =
  let box = Mvar.create 1 in
  int "swap" 1 (Event.sync (Mvar.swap_evt box 2));
  let double = Mvar.modify_evt box (fun n -> (2 * n, n)) in
  int "modify" 2 (Event.sync double);
  int "modify again" 4 (Event.sync double);
  raises "modify, raising" Exit (fun () ->
      Event.sync (Mvar.modify_evt box (fun _ -> raise Exit)));
  int "the value" 8 (Mvar.take box);
  no "nothing to double" (Option.is_some (Event.poll double));
  no "the box is not held" (Option.is_some (Mvar.take_available box));
  Mvar.put box 5;
  int "poll" 5 (Option.get (Event.poll (Mvar.swap_evt box 6)))

let () =
  run "Event"
    [
      ( "mvar",
        [ test "swap and modify hold the box in the task" swap_and_modify ] );
      ( "values",
        [
          test "always is ready" always;
          test "an event is performed many times" many_times;
          test "to make an event performs nothing" made_is_lazy;
          test "each sync is a wait of its own" each_sync_is_a_new_wait;
        ] );
      ( "wrap",
        [
          test "functions apply from the inside out, when performed" wrapped;
          test "the function may suspend" wrapped_may_suspend;
          test "cancelled in the function: performed" wrapped_cancelled;
          test "an exception of the function keeps its backtrace" wrapped_raises;
        ] );
      ( "make",
        [
          test "ready: it is polled, and no wait is made" ready_at_once;
          test "resumed: block once, no withdraw" resumed;
          test "cancelled: withdrawn once" cancelled;
          test "resumed with an exception: raises it" resumed_with_an_exception;
          test "block raises: the exception keeps its backtrace" block_raises;
        ] );
    ]
