(* The special properties of waits of Picos's fibers in Concord's structures. *)

open Picos
open Concord
open Concord.Tools
open Concord_test_support.Check
open Schedulers

let has_waiter m =
  eventually ~pause:Fiber.yield "it waits" (fun () -> Mvar.waiters m = 1)

let is_set what promise =
  eventually ~pause:Fiber.yield what (fun () -> Promise.is_resolved promise)

(* A fiber is cancelled while it computes a lazy value. See doc/picos.mld. [again] is the
   number of computations after another fiber has forced the value. *)
let cancelled_lazy from_fun force ~again () =
  fifo.run @@ fun () ->
  let gate = Promise.create () and begun = ref 0 in
  let compute () =
    incr begun;
    Promise.await gate
  in
  let t = from_fun compute in
  let forcer () =
    let ended = Promise.create () in
    let force () =
      Promise.fill ended
        (match force t with v -> Ok v | exception e -> Error e)
    in
    (spawn force, ended)
  in
  let cancel, first = forcer () in
  eventually ~pause:Fiber.yield "it computes" (fun () -> !begun = 1);
  cancel ();
  yes "cancelled" (Promise.await first = Error Ended);
  let _, second = forcer () in
  Fiber.yield ();
  Promise.fill gate 5;
  let expected = if again = 2 then Ok 5 else Error Ended in
  yes "the next one" (Promise.await second = expected);
  int "computations" again !begun

module Theirs = Picos_std_sync.Lazy

let lazies =
  [
    test "Concord's is computed again"
      (cancelled_lazy (Lazy.from_fun ?cancel:None) Lazy.force ~again:2);
    test "Concord's, with `Record"
      (cancelled_lazy (Lazy.from_fun ~cancel:`Record) Lazy.force ~again:1);
    test "Picos's keeps the exception"
      (cancelled_lazy Theirs.from_fun Theirs.force ~again:1);
  ]

exception Told

let[@inline never] cancels computation =
  Computation.cancel computation Told (Printexc.get_callstack 10)

(* All fibers of a computation are cancelled, with the backtrace of the cancellation. *)
let shared_computation s () =
  s.run @@ fun () ->
  let computation = Computation.create () and n = 5 in
  let m = Mvar.create_empty () in
  let told = Atomic.make 0 and ended = Latch.create n in
  let wait () =
    Printexc.record_backtrace true;
    (match (Mvar.take m : unit) with
    | () -> ()
    | exception Told ->
        let backtrace = Printexc.get_backtrace () in
        (* Not all domains of a pool record backtraces. *)
        if (not (Printexc.backtrace_status ())) || contains backtrace "cancels"
        then Atomic.incr told);
    Latch.count_down ended
  in
  for _ = 1 to n do
    Fiber.spawn (Fiber.create ~forbid:false computation) (fun _ -> wait ())
  done;
  eventually ~pause:Fiber.yield "they wait" (fun () -> Mvar.waiters m = n);
  cancels computation;
  Latch.await ended;
  int "all got the exception, with its backtrace" n (Atomic.get told)

(* When its computation returns, a fiber doesn't stop waiting. *)
let computation_returns s () =
  s.run @@ fun () ->
  let m = Mvar.create_empty () and ended = Promise.create () in
  let computation = Computation.create () in
  Fiber.spawn (Fiber.create ~forbid:false computation) (fun _ ->
      Promise.fill ended (Mvar.take m + Mvar.take m));
  has_waiter m;
  Computation.return computation ();
  for _ = 1 to 20 do
    Fiber.yield ()
  done;
  int "it waits" 1 (Mvar.waiters m);
  Mvar.put m 1;
  (* Now its computation has returned before. *)
  has_waiter m;
  Mvar.put m 2;
  int "both" 3 (Promise.await ended)

let forbidden s () =
  s.run @@ fun () ->
  let m = Mvar.create_empty () and ended = Promise.create () in
  let never : unit Mvar.t = Mvar.create_empty () in
  let cancel =
    spawn (fun () ->
        let v = Fiber.forbid (Fiber.current ()) (fun () -> Mvar.take m) in
        let w = Suspend.protect (fun () -> Mvar.take m) in
        let after =
          match Mvar.take never with () -> None | exception e -> Some e
        in
        Promise.fill ended (v + w, after))
  in
  has_waiter m;
  cancel ();
  int "it waits" 1 (Mvar.waiters m);
  Mvar.put m 1;
  has_waiter m;
  Mvar.put m 2;
  yes "afterwards" (Promise.await ended = (3, Some Ended))

(* How many effects of waits pass on the way to the scheduler. *)
let awaits f =
  let n = ref 0 in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    (match e with Trigger.Await _ -> incr n | _ -> ());
    None
  in
  Effect.Deep.try_with f () { effc };
  !n

(* The library uses these effects to find the computations on the fiber's stack. So even a wait
   that ends at once performs one. *)
let effects () =
  fifo.run @@ fun () ->
  let waits block () = try Suspend.suspend block with Told -> () in
  int "a value" 1 (awaits (waits (fun _ -> Some ())));
  int "an exception" 1 (awaits (waits (fun _ -> raise Told)))

(* The fiber is cancelled before it waits, but the resumption comes first. *)
let cancelled_in_block () =
  fifo.run @@ fun () ->
  let ended_of block =
    let computation = Computation.create () and ended = Promise.create () in
    let block resumer =
      block resumer;
      cancels computation;
      None
    in
    let wait _ =
      Promise.fill ended
        (match Suspend.suspend block with v -> Ok v | exception e -> Error e)
    in
    Fiber.spawn (Fiber.create ~forbid:false computation) wait;
    Promise.await ended
  in
  yes "cancelled" (ended_of ignore = Error Told);
  yes "resumed" (ended_of (fun resumer -> yes "told" (resumer (Ok 1))) = Ok 1)

(* --- Scopes ---------------------------------------------------------------- *)

let parallel s () =
  s.run @@ fun () ->
  let sum = Atomic.make 0 in
  let add i () = ignore (Atomic.fetch_and_add sum i : int) in
  ignore (Concord.Tasks.all (List.init 100 add) : unit list);
  int "sum" 4950 (Atomic.get sum);
  let unwound = Atomic.make 0 and waiting = Latch.create 10 in
  let wait () =
    Latch.count_down waiting;
    Fun.protect
      (fun () -> Event.sync Event.never)
      ~finally:(fun () -> Atomic.incr unwound)
  in
  raises "the failure" Told (fun () ->
      Scope.run (fun scope ->
          for _ = 1 to 10 do
            Scope.fork scope wait
          done;
          Latch.await waiting;
          raise Told));
  int "all were unwound" 10 (Atomic.get unwound)

(* The cancellation of the fiber is passed to the tasks of its scope, unless the fiber forbids
   that. *)
let scope_of_cancelled ~forbid s () =
  s.run @@ fun () ->
  let m = Mvar.create_empty () and ended = Promise.create () in
  let cancel =
    spawn (fun () ->
        let run () = fst (Tasks.both (fun () -> Mvar.take m) ignore) in
        let run () =
          if forbid then Fiber.forbid (Fiber.current ()) run else run ()
        in
        Promise.fill ended
          (match run () with v -> Ok v | exception e -> Error e))
  in
  has_waiter m;
  cancel ();
  if forbid then begin
    int "it waits" 1 (Mvar.waiters m);
    Mvar.put m 1;
    yes "taken" (Promise.await ended = Ok 1)
  end
  else yes "cancelled" (Promise.await ended = Error Ended)

(* --- Which task -------------------------------------------------------------- *)

let told_apart s () =
  s.run @@ fun () ->
  let who () = Concord__diagnosis.Identify.task () in
  let here = who () in
  Alcotest.(check string) "host" "picos" here.host;
  yes "the same" (Concord__core__Who.same here (who ()));
  let other = fst (Tasks.both who ignore) in
  no "another" (Concord__core__Who.same here other)

(* --- Others that wait by Domain_local_await ----------------------------------- *)

let local_await () =
  (registered fifo).run @@ fun () ->
  let trigger = ref None and ended = Promise.create () in
  let _cancel : unit -> unit =
    spawn (fun () ->
        let t = Domain_local_await.prepare_for_await () in
        trigger := Some t;
        t.await ();
        Promise.fill ended ())
  in
  eventually ~pause:Fiber.yield "it has one" (fun () -> !trigger <> None);
  (Option.get !trigger).release ();
  is_set "it continues" ended

(* --- Promises ----------------------------------------------------------------- *)

let promises () =
  let c = Computation.create () in
  let p = Concord_picos.of_computation c in
  no "not yet" (Promise.is_resolved p);
  let join = domain (fun () -> Promise.await p) in
  Computation.return c 7;
  int "another domain awaits it" 7 (join ());
  int "one that has returned" 7 (Promise.await (Concord_picos.of_computation c));
  let c = Computation.create () in
  let p : unit Promise.t = Concord_picos.of_computation c in
  cancels c;
  raises_at "cancels" (fun () -> Promise.await p);
  let p = Promise.create () in
  let c = Concord_picos.to_computation p in
  yes "it is running" (Computation.is_running c);
  Promise.fill p 8;
  int "value" 8 (fifo.run (fun () -> Computation.await c));
  let p : unit Promise.t = Promise.create () in
  let c = Concord_picos.to_computation p in
  Promise.fail p Told;
  raises "failure" Told (fun () -> Computation.peek_exn c)

let on (s : Schedulers.t) =
  ( "waits: " ^ s.name,
    [
      test "a computation of several fibers" (shared_computation s);
      test "the computation returns" (computation_returns s);
      test "forbidden" (forbidden s);
      test "a scope, in parallel" (parallel s);
      test "a scope of a fiber that is cancelled"
        (scope_of_cancelled ~forbid:false s);
      test "the same, forbidden" (scope_of_cancelled ~forbid:true s);
      test "distinguished" (told_apart s);
    ] )

let suites =
  List.map on (all @ [ registered fifo ])
  @ [
      ("a lazy value whose fiber is cancelled", lazies);
      ( "waits",
        [
          test "Domain_local_await" local_await;
          test "cancelled in block" cancelled_in_block;
          test "effects of a wait that ends at once" effects;
          test "promises" promises;
        ] );
    ]
