open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

let crew places work =
  let joins =
    List.mapi
      (fun i place -> domain (fun () -> place (fun () -> work i)))
      places
  in
  List.iter (fun join -> join ()) joins

let plain f = f ()
let fifo f = Fifo.run f
let count n = if Race.long then 20 * n else n

(* All parties start each round at once. *)
let rounds n ~parties round =
  let start = Barrier.create parties in
  fun i ->
    for k = 0 to n - 1 do
      Barrier.await start;
      round k i
    done

(* --- Cycles ----------------------------------------------------------------- *)

(* Returns when [n] tasks have called it. They return at the same moment if each has a core. *)
let meet arrived n =
  Atomic.incr arrived;
  let spins = ref 0 in
  while Atomic.get arrived < n do
    incr spins;
    if !spins > 500 then Thread.delay 0.00001 else Domain.cpu_relax ()
  done

(* Each task forces a value that needs the next task's value. No task may hang, and at least
   one must get [Undefined]. In every other round, all values are being forced before they
   need one another. In the other rounds, the moments are random. *)
let cycles places () =
  let n = List.length places in
  let many = count (2000 / n / n) in
  let told = Array.init many (fun _ -> Atomic.make 0) in
  let make k =
    let all = Array.make n (Lazy.from_val 0) and begun = Atomic.make 0 in
    for i = 0 to n - 1 do
      all.(i) <-
        Lazy.from_fun (fun () ->
            if k mod 2 = 0 then meet begun n;
            try Lazy.force all.((i + 1) mod n) + 1
            with Lazy.Undefined ->
              Atomic.incr told.(k);
              0)
    done;
    all
  in
  let all = Array.init many make in
  let force k i = ignore (Lazy.force all.(k).(i) : int) in
  crew places (rounds many ~parties:n force);
  let forced = Array.for_all (Array.for_all Lazy.is_val) all in
  yes "all are forced" forced;
  yes "at least one got Undefined"
    (Array.for_all (fun told -> Atomic.get told >= 1) told)

(* --- No cycles -------------------------------------------------------------- *)

(* Some tasks force [x] and others force values that need it. Although they wait for each
   other, all must get their values. *)
let dependent () =
  let many = count 3000 in
  let runs = Atomic.make 0 in
  let make _ =
    let x =
      Lazy.from_fun (fun () ->
          Atomic.incr runs;
          Domain.cpu_relax ();
          1)
    in
    let y = Lazy.map succ x in
    [| x; y; Lazy.map succ y |]
  in
  let all = Array.init many make and wrong = Atomic.make 0 in
  let force k i = if Lazy.force all.(k).(i) <> i + 1 then Atomic.incr wrong in
  crew [ plain; fifo; plain ] (rounds many ~parties:3 force);
  int "wrong values" 0 (Atomic.get wrong);
  int "computed" many (Atomic.get runs);
  let right k i t = Lazy.peek t = Some (Ok (i + 1)) && k >= 0 in
  yes "none has failed"
    (Array.for_all Fun.id
       (Array.mapi
          (fun k ts -> Array.for_all Fun.id (Array.mapi (right k) ts))
          all))

(* Each value needs up to three random earlier ones. The tasks force them in different
   orders. There is no cycle, so no task may get [Undefined]. *)
let acyclic () =
  let many = count 200 and size = 40 in
  let make k =
    let random = Race.random k in
    let all = Array.make size (Lazy.from_val (0, 0)) in
    let runs = Array.init size (fun _ -> Atomic.make 0) in
    for i = 1 to size - 1 do
      let needed = List.init 3 (fun _ -> Random.State.int random i) in
      all.(i) <-
        Lazy.from_fun (fun () ->
            Atomic.incr runs.(i);
            let depth j = fst (Lazy.force all.(j)) in
            (1 + List.fold_left (fun d j -> max d (depth j)) 0 needed, i))
    done;
    (all, runs)
  in
  let graphs = Array.init many make in
  let failed = Atomic.make 0 in
  let force_all k i =
    let all, _ = graphs.(k) in
    let random = Random.State.make [| Race.seed; k; i |] in
    for _ = 1 to size do
      let j = Random.State.int random size in
      match Lazy.force all.(j) with
      | _, number -> if number <> j then Atomic.incr failed
      | exception _ -> Atomic.incr failed
    done;
    Array.iter
      (fun t -> try ignore (Lazy.force t) with _ -> Atomic.incr failed)
      all
  in
  (* One party is a scheduler of four tasks, so that tasks also wait for each other within
     it. *)
  let together k i =
    if i = 2 then begin
      let fork j = Fifo.fork (fun () -> force_all k (10 + j)) in
      List.iter Fifo.join (List.init 4 fork)
    end
    else force_all k i
  in
  crew [ plain; plain; fifo ] (rounds many ~parties:3 together);
  int "failures" 0 (Atomic.get failed);
  Array.iter
    (fun (all, runs) ->
      yes "all are forced" (Array.for_all Lazy.is_val all);
      Array.iteri
        (fun i n -> if i > 0 then int "computed" 1 (Atomic.get n))
        runs)
    graphs

(* --- Restarts --------------------------------------------------------------- *)

(* Some tasks are cancelled at any moment. The others must get the value, and no waiter may
   be left. *)
let cancelled () =
  let many = count 2000 in
  let make _ =
    Lazy.from_fun (fun () ->
        Fifo.yield ();
        Fifo.yield ();
        7)
  in
  let all = Array.init many make in
  let wrong = Atomic.make 0 in
  let check v = if v <> 7 then Atomic.incr wrong in
  let round k i =
    let force () = check (Lazy.force all.(k)) in
    if i = 0 then force ()
    else begin
      let doomed = List.init 3 (fun _ -> Fifo.fork force) in
      if k mod 2 = 0 then Fifo.yield ();
      List.iter Fifo.cancel doomed;
      List.iter Fifo.join doomed
    end
  in
  crew [ fifo; fifo; fifo ] (rounds many ~parties:3 round);
  int "wrong values" 0 (Atomic.get wrong);
  yes "all are forced" (Array.for_all Lazy.is_val all);
  int "no task waits" 0 (Array.fold_left (fun n t -> n + Lazy.waiters t) 0 all)

let () =
  run "Lazy: races"
    [
      ( "cycles",
        [
          test "two domains" (cycles [ plain; plain ]);
          test "three domains" (cycles [ plain; plain; plain ]);
          test "two domains with Fifo" (cycles [ fifo; fifo ]);
          test "five, some with Fifo"
            (cycles [ plain; fifo; plain; fifo; plain ]);
        ] );
      ( "no cycles",
        [
          test "dependent values" dependent;
          test "random graphs without cycles" acyclic;
        ] );
      ("restarts", [ test "tasks cancelled at any moment" cancelled ]);
    ]
