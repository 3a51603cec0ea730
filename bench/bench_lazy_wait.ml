open Case

type 'l operations = {
  from_fun : (unit -> int) -> 'l;
  force : 'l -> int;
  waiters : 'l -> int option;
      (** Returns the number of waiters, if the implementation counts them. *)
}

let concord =
  {
    from_fun = (fun f -> Concord.Lazy.from_fun f);
    force = Concord.Lazy.force;
    waiters = (fun l -> Some (Concord.Lazy.waiters l));
  }

let eio =
  {
    from_fun = (fun f -> Eio.Lazy.from_fun ~cancel:`Restart f);
    force = Eio.Lazy.force;
    waiters = (fun _ -> None);
  }

let value = 1

(* One yield lets the computation end, one lets the waiting tasks run, and the rest is
   reserve. *)
let turns = 5

(* The tasks of a round share these fields. All of them run on one domain. *)
type round = {
  mutable came : int;
  mutable parked : bool;
  mutable start : Meter.instant;
  mutable continued : int;
  mutable ns : float;
}

let wait_round fork { from_fun; force; waiters } ~yield ~tasks =
  let start = Meter.now () in
  let r = { came = 0; parked = false; start; continued = 0; ns = 0. } in
  let compute () =
    while not r.parked do
      yield ()
    done;
    r.start <- Meter.now ();
    value
  in
  let l = from_fun compute in
  let wait () =
    r.came <- r.came + 1;
    Host.check "value" value (force l);
    r.continued <- r.continued + 1;
    if r.continued = tasks then r.ns <- Meter.ns_since r.start
  in
  fork (fun () -> Host.check "value" value (force l));
  for _ = 1 to tasks do
    fork wait
  done;
  (* Forking runs each task until it waits or ends. *)
  Host.check "tasks that came" tasks r.came;
  Host.check "tasks that did not wait" 0 r.continued;
  Option.iter (Host.check "waiters" tasks) (waiters l);
  (* A full collection first, because the work of the collector for the crowd must not be
     measured. The collector then begins to mark, and scans the stack of each task that
     continues. Now it does so in all samples, instead of only in some. In OCaml this is most
     of the time of an operation. *)
  Gc.full_major ();
  r.parked <- true;
  (* Both hosts run all tasks that are ready before this task runs again. *)
  for _ = 1 to turns do
    yield ()
  done;
  Host.check "tasks that continued" tasks r.continued;
  r.ns

(* The first round warms up. *)
let wait (host : Host.t) operations ~yield ~tasks n =
  let rounds = (n + tasks - 1) / tasks in
  let ns = ref 0. in
  host.run (fun fork ->
      let round () = wait_round fork operations ~yield ~tasks in
      ignore (round () : float);
      for _ = 1 to rounds do
        ns := !ns +. round ()
      done);
  !ns *. float_of_int n /. float_of_int (rounds * tasks)

let waiting tasks =
  let case = Printf.sprintf "wait-%d" tasks in
  {
    title =
      Printf.sprintf
        "one of %d tasks that wait for a lazy value, from when its computation \
         ends until all of them have continued, 1 domain"
        tasks;
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Crowd (tasks, wait Host.eio eio ~yield:Eio.Fiber.yield));
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo"
          (Crowd (tasks, wait Host.fifo concord ~yield:Concord_fifo.yield));
        row ~case ~impl:"concord" ~host:"eio"
          (Crowd (tasks, wait Host.eio concord ~yield:Eio.Fiber.yield));
        go_crowd case ~tasks;
        picos case (crowd_elsewhere tasks);
      ];
  }

let comparisons =
  (waiting 1_000 :: beside [ waiting 10_000 ]) @ [ waiting 100_000 ]
