(* [wrap_handler] and [to_result] tell which alternative of a choice raised. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

let[@inline never] culprit () = if true then raise Boom

(* Shows a value or an exception. The text of [Closed] is fixed here, because it may say
   more while waits are kept. *)
let shown = function
  | Ok v -> string_of_int v
  | Error Stream.Closed -> "Concord.Closed"
  | Error e -> Printexc.to_string e

let string = Alcotest.(check string)

let named name t =
  Event.wrap (Event.to_result t) (fun r -> name ^ " " ^ shown r)

let handled e v t =
  Event.wrap_handler t (fun e' -> if e = e' then v else raise e')

let start t = Hand.start (fun () -> Event.sync t)

let pair () =
  let a = Stream.create 1 and b = Stream.create 1 in
  let t =
    Event.choose
      [ named "a" (Stream.take_evt a); named "b" (Stream.take_evt b) ]
  in
  (a, b, t)

let idle a b = int "no task waits" 0 (Stream.waiters a + Stream.waiters b)

let at_once () =
  let a, b, t = pair () in
  Stream.add b 1;
  string "a value" "b 1" (Event.sync t);
  Stream.close b;
  string "the end" "b Concord.Closed" (Event.sync t);
  Alcotest.(check (option string))
    "polled" (Some "b Concord.Closed") (Event.poll t);
  Stream.close a;
  string "alone" "a Concord.Closed" (Event.sync (named "a" (Stream.take_evt a)))

let while_it_waits () =
  let a, b, t = pair () in
  let first = start t and second = start t in
  Stream.add a 1;
  in_domain (fun () -> Stream.close b);
  Hand.settle ();
  string "a value" "a 1" (Hand.result first);
  string "the end" "b Concord.Closed" (Hand.result second);
  idle a b

(* A cancellation belongs to the task and not to an alternative. No item was taken. *)
let cancelled () =
  let a, b, t = pair () in
  let choice = start t
  and alone = start (Event.to_result (Stream.take_evt a)) in
  Hand.unwind choice;
  Hand.unwind alone;
  idle a b;
  Stream.add a 1;
  int "nothing was lost" 1 (Stream.take a)

(* The handler of an alternative that lost isn't called. *)
let lost () =
  let a = Stream.create 1 and b = Promise.create () in
  let taken = handled Stream.Closed 2 (Stream.take_evt a) in
  let task = start (Event.choose [ taken; Promise.await_evt b ]) in
  Promise.fail b Stream.Closed;
  Stream.close a;
  Hand.settle ();
  raises "the promise's own" Stream.Closed (fun () -> Hand.result task)

(* Only exceptions inside the handler's event are handled. *)
let inside_and_outside () =
  let boom _ = raise Boom and bang _ = raise Bang in
  let one = Event.always 1 in
  let sync what expected t = int what expected (Event.sync t) in
  sync "a value" 1 (handled Boom 2 one);
  sync "a function inside" 2 (handled Boom 2 (Event.wrap one boom));
  sync "a function around it still applies" 3
    (Event.wrap (handled Boom 2 (Event.wrap one boom)) succ);
  raises "a function outside" Boom (fun () ->
      Event.sync (Event.wrap (handled Boom 2 one) boom));
  sync "the inner handler" 2
    (handled Boom 3 (handled Boom 2 (Event.wrap one boom)));
  sync "the outer handler" 3
    (handled Bang 3 (Event.wrap_handler (Event.wrap one boom) bang));
  sync "a handler around a function around a handler" 4
    (handled Bang 4 (Event.wrap (handled Boom 2 (Event.wrap one boom)) bang));
  sync "around a choice" 2
    (handled Boom 2 (Event.choose [ Event.never; Event.wrap one boom ]));
  sync "around a guard" 2
    (handled Boom 2 (Event.guard (fun () -> Event.wrap one boom)));
  raises "not the function that makes the event" Boom (fun () ->
      Event.sync (handled Boom 2 (Event.guard boom)));
  let t = Mvar.create 1 in
  sync "the operation's own function" 2
    (handled Boom 2 (Mvar.modify_evt t boom));
  sync "which has changed nothing" 1 (Mvar.take_evt t)

(* The functions of other alternatives run, and their exceptions are not handled. *)
let aborts () =
  let run wrap =
    traced [ "handled"; "aborted" ] @@ fun say ->
    let other =
      Event.wrap_abort Event.never (fun () ->
          say "aborted";
          raise Bang)
    in
    let t =
      Event.wrap_handler
        (wrap (Event.always ()))
        (fun e -> if e = Boom then say "handled")
    in
    raises "the abort's" Bang (fun () -> Event.select [ t; other ])
  in
  run (fun t -> Event.wrap t culprit);
  let handlers = ref 0 in
  let count _ = incr handlers in
  let first = Event.wrap_withdraw Event.never (fun () -> raise Bang) in
  let ok = Event.wrap_handler (Event.always ()) count in
  raises "of an operation" Bang (fun () -> Event.select [ ok; first ]);
  let box = Mvar.create 1 in
  let failing =
    Event.wrap_handler (Mvar.modify_evt box (fun _ -> raise Boom)) count
  in
  raises "the first of the two" Boom (fun () -> Event.select [ failing; first ]);
  int "handled" 0 !handlers;
  Event.select [ failing; Event.wrap_withdraw Event.never ignore ];
  int "handled" 1 !handlers

let backtrace () =
  let t = Event.wrap (Event.always ()) culprit in
  raises_at "culprit" (fun () ->
      Event.sync
        (Event.wrap_handler t (fun e ->
             Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ()))))

let () =
  run "Handlers of events"
    [
      ( "wrap_handler, to_result",
        [
          test "the ended queue is known, at once" at_once;
          test "closed while it waits" while_it_waits;
          test "a cancellation belongs to no alternative" cancelled;
          test "the loser's function is not called" lost;
          test "exceptions inside, and outside" inside_and_outside;
          test "aborts run, and are not handled" aborts;
          test "the backtrace is there" backtrace;
        ] );
    ]
