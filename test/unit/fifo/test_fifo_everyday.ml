(* Tests [join_evt], bindings, and functions that [Concord.Tasks] has too. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

let[@inline never] culprit () = if true then raise Boom
let task f = ignore (Fifo.fork f : Fifo.handle)
let daemon f = ignore (Fifo.fork_daemon f : Fifo.handle)
let never () : unit = Event.sync Event.never
let counting unwound f = Fun.protect ~finally:(fun () -> incr unwound) f

(* --- The event of joining -------------------------------------------------- *)

let join_events () =
  Fifo.run (fun () ->
      let a = Fifo.fork never and b = Fifo.fork Fifo.yield in
      let name h v = Event.wrap (Fifo.join_evt h) (fun () -> v) in
      yes "which" (Event.select [ name a "a"; name b "b" ] = "b");
      yes "again" (Event.poll (Fifo.join_evt b) = Some ());
      yes "not yet" (Event.poll (Fifo.join_evt a) = None);
      yes "timeout" (Event.sync_before 0.001 (Fifo.join_evt a) = None);
      Fifo.cancel a;
      Event.sync (Fifo.join_evt a);
      match Event.sync (Fifo.join_evt (Fifo.self ())) with
      | () -> Alcotest.fail "its own"
      | exception Invalid_argument _ -> ())

let join_event_raises () =
  Fifo.run (fun () ->
      let later =
        Fifo.fork (fun () ->
            Fifo.yield ();
            culprit ())
      in
      raises_at "culprit" (fun () ->
          Event.select [ Fifo.join_evt later; Event.never ]);
      let ended = Fifo.fork culprit in
      raises_at "culprit" (fun () -> Event.sync (Fifo.join_evt ended)));
  (* Joined from another domain. *)
  let handle = Mvar.create_empty () in
  let joined =
    domain (fun () ->
        let h = Mvar.read handle in
        match Event.select [ Fifo.join_evt h; Event.never ] with
        | () -> false
        | exception Boom -> true)
  in
  Fifo.run (fun () ->
      let h =
        Fifo.fork (fun () ->
            Tasks.sleep 0.005;
            culprit ())
      in
      Mvar.put handle h;
      eventually ~pause:Fifo.yield "joined on the other domain" (fun () ->
          match Event.poll (Fifo.join_evt h) with
          | Some () -> true
          | None -> false
          | exception Boom -> true));
  yes "joined" (joined ())

(* If a choice takes another alternative at the same moment, it hasn't joined the task. *)
let not_chosen () =
  raises "the failure is not lost" Boom (fun () ->
      Fifo.run (fun () ->
          let gate = Promise.create () in
          let go = Promise.create () in
          let failing =
            Fifo.fork (fun () ->
                Promise.await go;
                culprit ())
          in
          task (fun () ->
              Event.select [ Fifo.join_evt failing; Promise.await_evt gate ]);
          (* The choice is made by now, but its other waiter is still in the queue. *)
          Promise.fill go ();
          Promise.fill gate ();
          Fifo.yield ();
          never ()));
  let is_cancelled what cancellation wait =
    raises what Boom (fun () ->
        Fifo.run ~cancellation (fun () ->
            let go = Promise.create () in
            let failing =
              Fifo.fork (fun () ->
                  Promise.await go;
                  culprit ())
            in
            let chooser = Fifo.fork (fun () -> wait (Fifo.join_evt failing)) in
            Promise.fill go ();
            Fifo.cancel chooser;
            Fifo.yield ();
            never ()))
  in
  List.iter
    (fun cancellation ->
      is_cancelled "nor is it if the chooser is cancelled" cancellation
        (fun joined -> Event.select [ joined; Event.never ]);
      is_cancelled "nor is it if it is the only event" cancellation Event.sync;
      is_cancelled "nor is it with a timeout" cancellation (fun joined ->
          ignore (Event.sync_before 60. joined : unit option)))
    [ `Eager; `Lazy ]

(* --- Bindings -------------------------------------------------------------- *)

let key : int Local.t = Local.create ()
let name : string Local.t = Local.create ()

let binds () =
  Fifo.run (fun () ->
      yes "nothing" (Local.get key = None);
      let seen = Mailbox.create () in
      let see () = Mailbox.add seen (Local.get key, Local.get name) in
      Local.with_binding key 1 (fun () ->
          see ();
          Local.with_binding name "a" (fun () ->
              see ();
              Local.with_binding key 2 see;
              Local.without_binding key see;
              task (fun () ->
                  Fifo.yield ();
                  see ());
              daemon see;
              Concord.Scope.run (fun scope -> Concord.Scope.fork scope see));
          Fifo.yield ();
          Fifo.yield ();
          see ());
      see ();
      yes "seen"
        (Mailbox.drain seen
        = [
            (Some 1, None);
            (Some 1, Some "a");
            (Some 2, Some "a");
            (None, Some "a");
            (Some 1, Some "a");
            (Some 1, Some "a");
            (Some 1, Some "a");
            (Some 1, None);
            (None, None);
          ]))

let of_one_task () =
  Fifo.run (fun () ->
      let before =
        Fifo.fork_promise (fun () ->
            Fifo.yield ();
            Local.get key)
      in
      Local.with_binding key 1 (fun () ->
          yes "not in the tasks before" (Promise.await before = None);
          let inner =
            Fifo.fork_promise (fun () ->
                Local.with_binding key 2 (fun () ->
                    Fifo.yield ();
                    Local.get key))
          in
          Fifo.yield ();
          yes "its own" (Local.get key = Some 1);
          yes "the child's" (Promise.await inner = Some 2);
          yes "in another run" (Fifo.run (fun () -> Local.get key) = Some 1));
      yes "restored" (Local.get key = None);
      raises "after a failure" Boom (fun () -> Local.with_binding key 1 culprit);
      yes "restored" (Local.get key = None);
      let waits = Fifo.fork (fun () -> Local.with_binding key 1 never) in
      Fifo.cancel waits;
      Fifo.join waits;
      (* The next task may get the number of one that has ended. *)
      let next = Fifo.fork_promise (fun () -> Local.get key) in
      yes "not in the next task" (Promise.await next = None));
  yes "not outside" (Local.get key = None)

let many_inherit () =
  Fifo.run (fun () ->
      let before =
        List.init 100 (fun _ ->
            Fifo.fork_promise (fun () ->
                Fifo.yield ();
                Local.get key))
      in
      Local.with_binding key 3 (fun () ->
          let inside =
            List.init 1_000 (fun i ->
                Fifo.fork_promise (fun () ->
                    Local.with_binding name (string_of_int i) (fun () ->
                        Fifo.yield ();
                        (Local.get key, Local.get name))))
          in
          List.iteri
            (fun i p ->
              yes "inherited"
                (Promise.await p = (Some 3, Some (string_of_int i))))
            inside);
      List.iter (fun p -> yes "none" (Promise.await p = None)) before)

let not_kept () =
  Fifo.run (fun () ->
      let weak = Weak.create 1 in
      let[@inline never] bind () =
        let big : int array Local.t = Local.create () in
        let v = Array.make 1000 0 in
        Weak.set weak 0 (Some v);
        Local.with_binding big v (fun () -> Fifo.join (Fifo.fork Fifo.yield))
      in
      bind ();
      Fifo.yield ();
      Gc.full_major ();
      no "it is kept" (Weak.check weak 0))

(* --- A timeout -------------------------------------------------------------- *)

let cancels_forked () =
  let begun = ref 0 and unwound = ref 0 in
  let wait () =
    incr begun;
    counting unwound never
  in
  let rec within seconds =
    begun := 0;
    unwound := 0;
    yes "its tasks"
      (Tasks.with_timeout seconds (fun () ->
           task wait;
           daemon wait;
           never ())
      = None);
    (* On a busy machine, the time may be over before they begin. *)
    if !begun < 2 && seconds < 10. then within (2. *. seconds)
  in
  Fifo.run (fun () -> within 0.01);
  int "begun" 2 !begun;
  int "unwound" 2 !unwound

let () =
  run "Fifo, every day"
    [
      ( "join_evt",
        [
          test "ends" join_events;
          test "failures" join_event_raises;
          test "not chosen" not_chosen;
        ] );
      ( "bindings",
        [
          test "they are inherited" binds;
          test "of one task" of_one_task;
          test "many tasks" many_inherit;
          test "not kept" not_kept;
        ] );
      ("tasks", [ test "a timeout cancels those that it forks" cancels_forked ]);
    ]
