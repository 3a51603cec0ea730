(* Tests of scopes, [both], [all] and [yield]. The cases are the same on every host. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
include Tasks_kit
open Tasks_failures
open Tasks_forks

(* --- Values, order -------------------------------------------------------- *)

let values () =
  yes "both" (Tasks.both (fun () -> 1) (fun () -> "a") = (1, "a"));
  yes "none" (Tasks.all [] = ([] : int list));
  yes "one" (Tasks.all [ (fun () -> 1) ] = [ 1 ]);
  yes "three" (Tasks.all (List.init 3 (fun i () -> i)) = [ 0; 1; 2 ]);
  int "scope" 7 (Scope.run (fun _ -> 7))

let begin_in_order () =
  traced [ "0"; "1"; "2"; "3" ] @@ fun say ->
  ignore
    (Tasks.all (List.init 4 (fun i () -> say (string_of_int i))) : unit list)

let tasks_meet () =
  let numbers = Mvar.create_empty () and squares = Mvar.create_empty () in
  let sum =
    Scope.run @@ fun scope ->
    Scope.fork scope (fun () ->
        for i = 1 to 20 do
          Mvar.put numbers i
        done);
    Scope.fork scope (fun () ->
        for _ = 1 to 20 do
          let i = Mvar.take numbers in
          Mvar.put squares (i * i)
        done);
    List.fold_left ( + ) 0 (List.init 20 (fun _ -> Mvar.take squares))
  in
  int "sum" 2870 sum;
  let box = Mvar.create_empty () in
  yes "both meet"
    (Tasks.both (fun () -> Mvar.take box) (fun () -> Mvar.put box 1) = (1, ()));
  yes "the other way round"
    (Tasks.both (fun () -> Mvar.put box 1) (fun () -> Mvar.take box) = ((), 1))

let ends_last () =
  let ended = ref 0 and gate = Promise.create () in
  Scope.run (fun scope ->
      for _ = 1 to 3 do
        Scope.fork scope (fun () ->
            Promise.await gate;
            Tasks.yield ();
            incr ended)
      done;
      Scope.fork scope (fun () -> Promise.fill gate ()));
  int "all have ended" 3 !ended

(* Each task waits for a step of the other one, without a structure. *)
let yields () =
  let turn = ref 0 in
  let player me () =
    for _ = 1 to 5 do
      while !turn mod 2 <> me do
        Tasks.yield ()
      done;
      incr turn
    done
  in
  ignore (Tasks.both (player 0) (player 1) : unit * unit);
  int "turns" 10 !turn;
  Tasks.yield ()

(* Tasks that always have work wait for a task outside the scope. [at_once] runs two functions
   in tasks of one host. *)
let beside_others at_once () =
  let flag = Atomic.make false in
  let wait () =
    while not (Atomic.get flag) do
      Tasks.yield ()
    done
  in
  let set () = Atomic.set flag true in
  at_once (fun () -> ignore (Tasks.both wait wait : unit * unit)) set;
  Atomic.set flag false;
  at_once wait set

(* --- Many ----------------------------------------------------------------- *)

let many () =
  let n = 10_000 in
  let gate = Promise.create () in
  let task i () =
    if i = n - 1 then Promise.fill gate ();
    Promise.await gate;
    i
  in
  yes "values" (Tasks.all (List.init n task) = List.init n Fun.id);
  let unwound = ref 0 in
  let task i () = if i = n - 1 then explode () else counting unwound never in
  raises "one of many" Boom (fun () -> Tasks.all (List.init n task));
  int "all are unwound" (n - 1) !unwound

let deep () =
  let rec depth n =
    if n = 0 then 0
    else
      let a, () = Tasks.both (fun () -> depth (n - 1)) Tasks.yield in
      a + 1
  in
  int "depth" 1000 (depth 1000);
  let rec fail n () =
    if n = 0 then explode ()
    else ignore (Tasks.both (fail (n - 1)) never : unit * unit)
  in
  raises "from the depth" Boom (fail 1000);
  let rec bodies n =
    if n = 0 then explode () else Scope.run (fun _ -> bodies (n - 1))
  in
  raises "in one task" Boom (fun () -> bodies 1000)

let protected_ () =
  Suspend.protect (fun () ->
      values ();
      tasks_meet ();
      first_fails ())

let cases =
  [
    ("values", values);
    ("they begin in order", begin_in_order);
    ("tasks meet", tasks_meet);
    ("run ends last", ends_last);
    ("yield", yields);
    ("one fails", first_fails);
    ("several fail", both_fail);
    ("the body fails", body_fails);
    ("a task fails, the body waits", task_fails_body_waits);
    ("a failure in a scope within", in_a_scope_within);
    ("cancel, and the body returns", cancel_returns);
    ("cancel, and the body waits", cancel_raises);
    ("promises", promises);
    ("fork from a scope within", fork_from_within);
    ("a failure is its own scope's", fails_in_its_scope);
    ("tasks fork", tasks_fork);
    ("fork after the end", forks_too_late);
    ("others fork", others_fork);
    ("fork in a cancelled scope", forks_when_cancelled);
    ("many tasks", many);
    ("deep nesting", deep);
    ("in protect", protected_);
  ]

let everywhere (name, place) =
  (name, List.map (fun (name, case) -> test name (fun () -> place case)) cases)

(* --- Places --------------------------------------------------------------- *)

let eio f = Eio_main.run (fun _ -> f ())
let fifo f = Concord_fifo.run f
let lazily f = Concord_fifo.run ~cancellation:`Lazy f
let both_in_eio f g = eio (fun () -> Eio.Fiber.both f g)
let both_in_thread f g = beside g f
let within outer place f = outer (fun () -> place f)

let with_backtraces f () =
  Printexc.record_backtrace true;
  f ()

let places =
  [
    ("thread", in_thread);
    ("domain", fun f -> in_domain (with_backtraces f));
    ("here", fun f -> f ());
    ("Fifo", fifo);
    ("Fifo, lazy", lazily);
    ("Eio", eio);
    ("a handler", fun f -> Mini.run [ f ]);
    ("Fifo in Eio", within eio fifo);
    ("Eio in Fifo", within fifo eio);
    ("Fifo in a handler", within (fun f -> Mini.run [ f ]) fifo);
    ("a handler in Fifo", within fifo (fun f -> Mini.run [ f ]));
  ]
