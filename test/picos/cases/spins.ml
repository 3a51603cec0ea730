(* A fiber spins before it sleeps, at least the first one that waits in a domain. So each test
   has its own domain. *)

open Picos
open Concord
open Concord.Tools
open Concord_test_support.Check
open Schedulers

let main (s : Schedulers.t) f () = in_domain (fun () -> s.run f)
let many = if instrumented then 1_000 else 10_000

(* --- What a wait performs --------------------------------------------------- *)

type effects = { mutable yields : int; mutable awaits : int }

let counting f =
  let n = { yields = 0; awaits = 0 } in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    (match e with
    | Fiber.Yield -> n.yields <- n.yields + 1
    | Trigger.Await _ -> n.awaits <- n.awaits + 1
    | _ -> ());
    None
  in
  Effect.Deep.try_with f n { effc };
  n

let performed ~yields ~awaits n =
  int "yields" yields n.yields;
  int "awaits" awaits n.awaits

(* A task waits, and another one resumes it when [go_on] is true. *)
let resumed_when go_on =
  let resume = ref None in
  counting (fun n ->
      let other () =
        while not (go_on n) do
          Fiber.yield ()
        done;
        yes "told" ((Option.get !resume) (Ok ()))
      in
      let _cancel : unit -> unit = spawn other in
      (* The effects of the other task and of [spawn] aren't counted. *)
      n.yields <- 0;
      n.awaits <- 0;
      Suspend.suspend (fun resumer ->
          resume := Some resumer;
          None))

let while_it_looks () =
  let n = resumed_when (fun n -> n.yields = 5) in
  performed ~yields:5 ~awaits:0 n

let when_it_sleeps () =
  let n = resumed_when (fun n -> n.awaits = 1) in
  performed ~yields:400 ~awaits:1 n

(* The last effect must not be a constant. *)
let at_once () =
  let last = ref (Obj.repr ()) in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    last := Obj.repr e;
    None
  in
  let value () = int "value" 3 (Suspend.suspend (fun _ -> Some 3)) in
  let failure () =
    raises "failure" Ended (fun () -> Suspend.suspend (fun _ -> raise Ended))
  in
  let last_of f =
    Effect.Deep.try_with f () { effc };
    !last
  in
  no "of values" (last_of value == last_of value);
  no "of exceptions" (last_of failure == last_of failure)

(* A sleeping fiber was there before a spinning one. *)
let in_order () =
  let gate = Promise.create () and order = ref [] in
  let ended = Latch.create 3 in
  let wait i () =
    Promise.await gate;
    order := i :: !order;
    Latch.count_down ended
  in
  (* The first wait spins in vain, so the next one doesn't spin. *)
  ignore (Event.sync_before 0.001 Event.never : unit option);
  List.iter (fun i -> ignore (spawn (wait i) : unit -> unit)) [ 1; 2; 3 ];
  eventually ~pause:Fiber.yield "they wait" (fun () -> Promise.waiters gate = 3);
  Promise.fill gate ();
  Latch.await ended;
  yes "in order" (List.rev !order = [ 1; 2; 3 ])

(* --- Cancelling -------------------------------------------------------------- *)

exception Told

let[@inline never] cancels computation =
  Computation.cancel computation Told (Printexc.get_callstack 10)

(* Runs [f] in a fiber that is cancelled after it has spun for this number of turns. *)
let cancelled_after turns ~then_ f =
  let computation = Computation.create () and ended = Promise.create () in
  let run _ =
    Printexc.record_backtrace true;
    Promise.fill ended
      (match f () with
      | v -> Ok v
      | exception e -> Error (e, Printexc.get_backtrace ()))
  in
  Fiber.spawn (Fiber.create ~forbid:false computation) run;
  for _ = 1 to turns do
    Fiber.yield ()
  done;
  cancels computation;
  then_ ();
  while not (Promise.is_resolved ended) do
    Fiber.yield ()
  done;
  Promise.await ended

let is_told = function
  | Error (Told, backtrace) -> contains backtrace "cancels"
  | Error _ | Ok _ -> false

(* The fiber spins for 400 turns and then sleeps. While it spins, it attaches itself to its
   computation, and this attachment wakes it later. *)
let cancelled () =
  List.iter
    (fun turns ->
      main fifo
        (fun () ->
          let m = Mvar.create_empty () in
          let then_ () = Mvar.put m 1 in
          yes "cancelled"
            (is_told (cancelled_after turns ~then_ (fun () -> Mvar.take m)));
          yes "it is there" (Mvar.try_take m = Some 1);
          int "no task waits" 0 (Mvar.waiters m))
        ())
    [ 1; 2; 200; 398; 399; 400; 401; 402; 403; 450 ]

let resumed_before () =
  let m = Mvar.create_empty () and ended = Promise.create () in
  let cancel = spawn (fun () -> Promise.fill ended (Mvar.take m)) in
  eventually ~pause:Fiber.yield "it waits" (fun () -> Mvar.waiters m = 1);
  Mvar.put m 1;
  cancel ();
  int "taken" 1 (Promise.await ended);
  yes "nothing is left" (Mvar.is_empty m)

let forbidden turns () =
  let m = Mvar.create_empty () in
  let then_ () =
    for _ = 1 to 10 do
      Fiber.yield ()
    done;
    int "it waits" 1 (Mvar.waiters m);
    Mvar.put m 1
  in
  let take () = Suspend.protect (fun () -> Mvar.take m) in
  yes "taken" (cancelled_after turns ~then_ take = Ok 1)

(* The computation forgets each spinning wait. *)
let memory () =
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  let n = 5_000 in
  let join =
    domain (fun () ->
        for _ = 1 to 2 * n do
          Mvar.put back (Mvar.take there)
        done)
  in
  Afterwards.little "looks" (fun () ->
      for i = 1 to n do
        Mvar.put there i;
        int "back" i (Mvar.take back)
      done);
  join ()

(* Each value is in exactly one place, whichever side is faster. *)
let no_value_is_lost ~rounds (s : Schedulers.t) () =
  in_domain @@ fun () ->
  s.run @@ fun () ->
  let box = Mvar.create_empty () and next = ref 1 in
  let join =
    domain (fun () ->
        for i = 1 to rounds do
          Mvar.put box i
        done)
  in
  let round = ref 0 in
  while !next <= rounds do
    incr round;
    let ended = Atomic.make false in
    let cancel =
      spawn (fun () ->
          Fun.protect
            ~finally:(fun () -> Atomic.set ended true)
            (fun () ->
              let v = Mvar.take box in
              int "the next one" !next v;
              incr next))
    in
    for _ = 1 to !round mod 7 do
      Fiber.yield ()
    done;
    cancel ();
    while not (Atomic.get ended) do
      Fiber.yield ()
    done
  done;
  join ()

(* --- Two domains --------------------------------------------------------------- *)

let between (s, rounds) =
  let s : Schedulers.t = s in
  let exchange here there () =
    in_domain (fun () ->
        Concord_test_support.Exchange.between ~rounds here there)
  in
  [
    test (s.name ^ ", twice") (exchange s.run s.run);
    test (s.name ^ ", a plain domain") (exchange s.run (fun f -> f ()));
    test (s.name ^ ", Fifo") (exchange s.run (fun f -> Concord_fifo.run f));
  ]

(* Fibers that are threads are slower, so they run fewer rounds. *)
let on = [ (fifo, many); (random, many); (thread, many / 50) ]

let suites =
  if Domain.recommended_domain_count () = 1 then []
  else
    [
      ( "looks",
        [
          test "until it is resumed" (main fifo while_it_looks);
          test "then it sleeps" (main fifo when_it_sleeps);
          test "effects of a wait that ends at once" (main fifo at_once);
          test "order" (main fifo in_order);
        ] );
      ( "spins, cancelled",
        [
          test "at any turn" cancelled;
          test "resumed before" (main fifo resumed_before);
          test "forbidden" (main fifo (forbidden 5));
          test "forbidden, asleep" (main fifo (forbidden 150));
          test "memory" (main fifo memory);
        ]
        @ List.map
            (fun ((s : Schedulers.t), rounds) ->
              test ("no value is lost: " ^ s.name) (no_value_is_lost ~rounds s))
            on );
      ("spins, two domains", List.concat_map between on);
    ]
