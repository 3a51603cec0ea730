(* Each variant is one function that computes in the background, or should. *)

open Eio.Std
module Task = Domainslib.Task

type t = Blocking | Composed | Domain_manager

let all =
  [
    ("blocking", Blocking);
    ("composed", Composed);
    ("domain-manager", Domain_manager);
  ]

let with_pool ~num_domains f =
  let pool = Task.setup_pool ~num_domains () in
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) (fun () -> f pool)

(* [Task.run] makes the calling domain work too, so the pool itself needs one
   less. *)
let blocking ~domains f =
  with_pool ~num_domains:(domains - 1) @@ fun pool ->
  f (fun n -> Task.run pool (fun () -> Fib.parallel pool n))

let composed ~domains f =
  with_pool ~num_domains:domains @@ fun pool ->
  f (fun n ->
      Concord.Promise.await
        (Concord_domainslib.submit pool (fun () -> Fib.parallel pool n)))

let domain_manager ~domains manager f =
  let jobs = Eio.Stream.create max_int in
  let ready = Eio.Stream.create domains in
  let rec work () =
    let n, reply = Eio.Stream.take jobs in
    Promise.resolve reply (Fib.sequential n);
    work ()
  in
  Switch.run @@ fun sw ->
  for _ = 1 to domains do
    Fiber.fork_daemon ~sw @@ fun () ->
    Eio.Domain_manager.run manager @@ fun () ->
    Eio.Stream.add ready ();
    work ()
  done;
  (* They are up before clients come, who may take all descriptors. *)
  for _ = 1 to domains do
    Eio.Stream.take ready
  done;
  f (fun n ->
      let result, reply = Promise.create () in
      Eio.Stream.add jobs (n, reply);
      Promise.await result)

let with_fib t ~domains manager f =
  match t with
  | Blocking -> blocking ~domains f
  | Composed -> composed ~domains f
  | Domain_manager -> domain_manager ~domains manager f
