open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom

let always () =
  int "sync" 3 (Event.sync (Event.always 3));
  yes "poll" (Event.poll (Event.always 3) = Some 3)

let never () =
  yes "poll" (Event.poll Event.never = None);
  yes "choose of nothing" (Event.poll (Event.choose []) = None);
  let wait event =
    let task = Hand.start (fun () -> Event.sync event) in
    Hand.settle ();
    yes "it waits" (Hand.waits task);
    yes "cancel" (Hand.cancel task);
    Hand.settle ();
    raises "sync" Hand.Cancelled (fun () -> Hand.result task)
  in
  wait Event.never;
  wait (Event.choose []);
  wait (Event.choose [ Event.never; Event.wrap Event.never ignore ]);
  int "beside never" 1 (Event.select [ Event.never; Event.always 1 ])

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
  yes "poll of an event that must wait calls nothing" (Event.poll event = None);
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
  let waiter = ref None in
  let attempt () () =
    say "attempt";
    if ready then Some 1 else None
  and enlist () w =
    say "enlist";
    waiter := Some w;
    true
  and withdraw () _ = say "withdraw" in
  let resume outcome = (Option.get !waiter).Structure_kit.resumer outcome in
  ( Event.make
      {
        Structure_kit.default with
        name = "test";
        how = By_hand { attempt; enlist; withdraw };
      }
      () (),
    resume )

(* Tests an event alone and in a choice. *)
let alone_and_chosen f =
  f Event.sync;
  f (fun event -> Event.select [ Event.never; event ])

let ready_at_once () =
  alone_and_chosen @@ fun sync ->
  traced [ "attempt" ] @@ fun say ->
  let event, _ = spied say ~ready:true in
  int "value" 1 (sync event)

let resumed () =
  alone_and_chosen @@ fun sync ->
  traced [ "attempt"; "enlist" ] @@ fun say ->
  let event, resume = spied say ~ready:false in
  let task = Hand.start (fun () -> sync event) in
  yes "resumed" (resume (Ok 2));
  no "cancelled too late" (Hand.cancel task);
  no "resumed twice" (resume (Ok 3));
  Hand.settle ();
  int "value" 2 (Hand.result task)

let cancelled () =
  alone_and_chosen @@ fun sync ->
  traced [ "attempt"; "enlist"; "withdraw" ] @@ fun say ->
  let event, resume = spied say ~ready:false in
  let task = Hand.start (fun () -> sync event) in
  yes "cancelled" (Hand.cancel task);
  Hand.settle ();
  no "resumed too late" (resume (Ok 2));
  raises "sync" Hand.Cancelled (fun () -> Hand.result task)

(* The resumer has taken the waiter out of the queue, so it must not be withdrawn. *)
let cancelled_then_resumed () =
  traced [ "attempt"; "enlist" ] @@ fun say ->
  let event, resume = spied say ~ready:false in
  let task = Hand.start (fun () -> Event.select [ event; Event.never ]) in
  yes "cancelled" (Hand.cancel task);
  no "resumed too late" (resume (Ok 2));
  Hand.settle ();
  raises "sync" Hand.Cancelled (fun () -> Hand.result task)

let resumed_with_an_exception () =
  alone_and_chosen @@ fun sync ->
  let event, resume = spied ignore ~ready:false in
  let task = Hand.start (fun () -> sync event) in
  yes "resumed" (resume (Error Boom));
  Hand.settle ();
  raises "sync" Boom (fun () -> Hand.result task)

(* The event becomes ready only while it is being enlisted, so it is tried again. *)
let ready_late () =
  alone_and_chosen @@ fun sync ->
  traced [ "attempt"; "enlist"; "attempt" ] @@ fun say ->
  let ready = ref false in
  let attempt () () =
    say "attempt";
    if !ready then Some 1 else None
  and enlist () _ =
    say "enlist";
    ready := true;
    false
  and withdraw () _ = say "withdraw" in
  let event =
    Event.make
      {
        Structure_kit.default with
        name = "test";
        how = By_hand { attempt; enlist; withdraw };
      }
      () ()
  in
  int "value" 1 (Hand.result (Hand.start (fun () -> sync event)))

let attempt_raises () =
  alone_and_chosen @@ fun sync ->
  let attempt () () =
    culprit ();
    None
  and enlist () _ = true
  and withdraw () _ = assert false in
  let event =
    Event.make
      {
        Structure_kit.default with
        name = "test";
        how = By_hand { attempt; enlist; withdraw };
      }
      () ()
  in
  raises_at "culprit" (fun () -> sync event);
  raises_at "culprit" (fun () -> Event.poll event)

(* One alternative is about to be resumed when another one is found ready. The choice may
   perform either of them. *)
let resumed_while_another_is_ready () =
  for _ = 1 to 50 do
    let resume = ref (fun _ -> false) and found = ref false in
    let withdraw () _ = () in
    let waits =
      let enlist () w =
        resume := w.Structure_kit.resumer;
        true
      in
      Event.make
        {
          Structure_kit.default with
          name = "test";
          how = By_hand { attempt = (fun () () -> None); enlist; withdraw };
        }
        () ()
    and ready_late =
      let attempt () () =
        if !found then begin
          no "too late" (!resume (Ok 1));
          Some 2
        end
        else None
      and enlist () _ =
        found := true;
        false
      in
      Event.make
        {
          Structure_kit.default with
          name = "test";
          how = By_hand { attempt; enlist; withdraw };
        }
        () ()
    in
    let task = Hand.start (fun () -> Event.select [ waits; ready_late ]) in
    Hand.settle ();
    int "value" 2 (Hand.result task)
  done

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

(* The function of the modification runs in the task. Before that, or if it raises, other
   tasks wait or find the old value. *)
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
  no "the box is not held" (Option.is_some (Mvar.try_take box));
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
          test "never is not, and can be cancelled" never;
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
          test "ready: it is attempted, and no wait is made" ready_at_once;
          test "resumed: enlisted once, not withdrawn" resumed;
          test "cancelled: withdrawn once" cancelled;
          test "cancelled, then refused: not withdrawn" cancelled_then_resumed;
          test "resumed with an exception: raises it" resumed_with_an_exception;
          test "ready when it is enlisted: attempted again" ready_late;
          test "resumed while another one is ready: refused"
            resumed_while_another_is_ready;
          test "attempt raises: the exception keeps its backtrace"
            attempt_raises;
        ] );
    ]
