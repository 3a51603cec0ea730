open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Check
open Lazy_undefined
module Fifo = Concord_fifo

let in_finaliser = Reach_cases.in_finaliser

module Pool = Domainslib.Task

let with_pool ?(num_domains = 1) f =
  let pool = Pool.setup_pool ~num_domains () in
  Fun.protect ~finally:(fun () -> Pool.teardown_pool pool) (fun () -> f pool)

let pool_task f = with_pool (fun pool -> Pool.run pool f)

(* --- Tasks of one host ------------------------------------------------------ *)

let pool_tasks ?num_domains fs =
  with_pool ?num_domains @@ fun pool ->
  Pool.run pool (fun () ->
      List.iter (Pool.await pool) (List.map (Pool.async pool) fs))

let joined start fs = List.iter (fun join -> join ()) (List.map start fs)
let threads fs = joined thread fs
let domains fs = joined domain fs
let eio_domains fs = domains (List.map (fun f () -> eio f) fs)

(* Each function runs in another host, on a thread of its own. *)
let mixed fs =
  let places = [| fifo; in_thread; eio; pool_task; in_domain |] in
  threads (List.mapi (fun i f () -> places.(i mod 5) f) fs)

(* Half of the tasks run in each of two schedulers. *)
let two_schedulers fs =
  let halves p = List.filteri (fun i _ -> p i) fs in
  beside
    (fun () -> tasks (halves (fun i -> i mod 2 = 0)))
    (fun () -> fibers (halves (fun i -> i mod 2 = 1)))

(* --- Tasks that only run on the stack of the computing task ------------------ *)

(* The computation runs the loop of a pool that has no domains of its own. The loop starts
   other tasks, which force the same value. *)
let stolen_by_the_loop outer () =
  with_pool ~num_domains:0 @@ fun pool ->
  let gate = Promise.create () and others = ref [] in
  let self = ref (Lazy.from_val 0) in
  let compute () =
    Pool.run pool (fun () ->
        let force i () = i + Lazy.force !self in
        others := List.map (fun i -> Pool.async pool (force i)) [ 1; 2 ];
        Promise.await gate)
  in
  self := Lazy.from_fun compute;
  let filler =
    thread (fun () ->
        eventually "they wait" (fun () -> Lazy.waiters !self = 2);
        Promise.fill gate 10)
  in
  outer (fun () ->
      int "value" 10 (Lazy.force !self);
      (* The other tasks were resumed, and continue in the next loop. *)
      let sum () =
        List.fold_left (fun n p -> n + Pool.await pool p) 0 !others
      in
      int "the others" 23 (Pool.run pool sum));
  filler ()

(* Here the other task forces another value, which needs this one. *)
let stolen_and_dependent () =
  with_pool ~num_domains:0 @@ fun pool ->
  let gate = Promise.create () and other = ref None in
  let self = ref (Lazy.from_val 0) in
  let dependent = ref (Lazy.from_val 0) in
  let compute () =
    Pool.run pool (fun () ->
        other := Some (Pool.async pool (fun () -> Lazy.force !dependent));
        Promise.await gate)
  in
  self := Lazy.from_fun compute;
  dependent := Lazy.map succ !self;
  let filler =
    thread (fun () ->
        eventually "it waits" (fun () -> Lazy.waiters !self = 1);
        Promise.fill gate 10)
  in
  int "value" 10 (Lazy.force !self);
  let await () = Pool.await pool (Option.get !other) in
  int "the other" 11 (Pool.run pool await);
  yes "not failed" (Lazy.is_val !dependent);
  filler ()

(* The loop's own task computes the value, so the value needs itself. *)
let needs_itself_in_the_loop () =
  with_pool ~num_domains:0 @@ fun pool ->
  Pool.run pool @@ fun () ->
  let all = lazies 1 (fun all _ -> Lazy.force all.(0)) in
  let task = Pool.async pool (fun () -> undefined all.(0)) in
  Pool.await pool task

(* --- A host that cannot suspend -------------------------------------------- *)

exception No_task

(* Runs [f] in the host's loop, but in none of its tasks. *)
let refusing f =
  let outside block =
    let decided = Atomic.make false in
    let decide () = not (Atomic.exchange decided true) in
    match block (fun _ -> decide ()) with
    | Some () -> ()
    | None -> if decide () then Host_kit.refuse No_task
  in
  Host_kit.using ~outside (Host_kit.create ()) f

(* A refused wait must not count as a failure of the computation, whatever the computation
   raises then. *)
let refused () =
  let each name ?(raised = No_task) from_fun =
    let p = Promise.create () and runs = ref 0 in
    let t =
      from_fun (fun () ->
          incr runs;
          Promise.await p)
    in
    refusing (fun () -> raises name raised (fun () -> Lazy.force t));
    yes (name ^ ": not forced") (Lazy.peek t = None);
    int (name ^ ": no task waits") 0 (Promise.waiters p);
    let task = Hand.start (fun () -> Lazy.force t) in
    Promise.fill p 1;
    Hand.settle ();
    int (name ^ ": by a task") 1 (Hand.result task);
    int (name ^ ": runs") 2 !runs
  in
  each "restart" (fun f -> Lazy.from_fun f);
  each "record" (fun f -> Lazy.from_fun ~cancel:`Record f);
  each "protect" (fun f -> Lazy.from_fun ~cancel:`Protect f);
  each "another exception" ~raised:Exit (fun f ->
      Lazy.from_fun (fun () -> try f () with No_task -> raise Exit));
  each "in another" (fun f ->
      let inner = Lazy.from_fun f in
      Lazy.from_fun (fun () -> Lazy.force inner));
  each "after it has waited for another" (fun f ->
      let other = Lazy.from_fun (fun () -> 0) in
      Lazy.from_fun (fun () -> Lazy.force other + f ()))

(* A computation that failed for another reason has failed here too. *)
let not_refused () =
  let runs = ref 0 in
  let t =
    Lazy.from_fun (fun () ->
        incr runs;
        raise Exit)
  in
  let p = Promise.create () in
  let u = Lazy.from_fun (fun () -> Promise.await p) in
  refusing (fun () ->
      raises "fails" Exit (fun () -> Lazy.force t);
      raises "fails again" Exit (fun () -> Lazy.force t);
      raises "refused" No_task (fun () -> Lazy.force u);
      Promise.fail p Exit;
      raises "fails, the second time" Exit (fun () -> Lazy.force u));
  yes "for good" (Lazy.peek u = Some (Error Exit));
  int "runs" 1 !runs

let () =
  run "Lazy: hosts"
    [
      ("in the main thread", within (fun f -> f ()));
      ("in a thread", within in_thread);
      ("in a domain", within in_domain);
      ("by hand", alone (fun f -> Hand.(result (start f))));
      ("in Fifo", within fifo);
      ("in Fifo, lazy", within (fun f -> Fifo.run ~cancellation:`Lazy f));
      ("in Eio", within eio);
      ("in a pool", within pool_task);
      ("in Fifo in Eio", within (fun f -> eio (fun () -> fifo f)));
      ("in Eio in Fifo", within (fun f -> fifo (fun () -> eio f)));
      ("in Fifo in a pool", within (fun f -> pool_task (fun () -> fifo f)));
      ("in a pool in Fifo", within (fun f -> fifo (fun () -> pool_task f)));
      ("in a thread of Fifo", within (fun f -> fifo (fun () -> in_thread f)));
      ( "in a finaliser in Fifo",
        within (fun f -> fifo (fun () -> in_finaliser f)) );
      ("threads", among threads);
      ("domains", among domains);
      ("tasks of Fifo", among tasks);
      ("fibers", among fibers);
      ("domains with Eio", among eio_domains);
      ("tasks of a pool", among pool_tasks);
      ("tasks of a pool of one", among (pool_tasks ~num_domains:0));
      ("tasks in a fiber", among (fun fs -> eio (fun () -> tasks fs)));
      ("fibers in Fifo", among (fun fs -> fifo (fun () -> fibers fs)));
      ("tasks in a pool", among (fun fs -> pool_task (fun () -> tasks fs)));
      ("a pool in Fifo", among (fun fs -> fifo (fun () -> pool_tasks fs)));
      ("a task of each host", among mixed);
      ("Fifo and Eio", among two_schedulers);
      ( "a scheduler within a computation",
        let each together name =
          List.map
            (fun (where, place) ->
              test (name ^ " " ^ where) (scheduler_within together place))
            [
              ("in a thread", in_thread);
              ("in the main thread", fun f -> f ());
              ("in Fifo", fifo);
              ("in Eio", if name = "Eio" then in_domain else eio);
              ("in a pool", pool_task);
            ]
        in
        each tasks "Fifo" @ each fibers "Eio" @ each pool_tasks "a pool" );
      ( "where nothing can be suspended",
        [ test "refused" refused; test "not refused" not_refused ] );
      ( "on the stack of the computing task",
        [
          test "tasks of a pool" (stolen_by_the_loop (fun f -> f ()));
          test "tasks of a pool, in Fifo" (stolen_by_the_loop fifo);
          test "tasks of a pool, in Eio" (stolen_by_the_loop eio);
          test "dependent ones" stolen_and_dependent;
          test "it needs itself" needs_itself_in_the_loop;
        ] );
    ]
