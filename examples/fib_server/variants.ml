(* Each variant is one function. It should compute in the background, but some variants
   block. *)

open Eio.Std
module Task = Domainslib.Task

type t =
  | Blocking
  | Composed
  | Unsplit
  | Long_lived
  | Domain_manager
  | Executor_pool
  | Eio_promise
  | As_printed
  | Mvar

let all =
  [
    ("blocking", Blocking);
    ("composed", Composed);
    ("unsplit", Unsplit);
    ("long-lived", Long_lived);
    ("domain-manager", Domain_manager);
    ("executor-pool", Executor_pool);
    ("eio-promise", Eio_promise);
    ("as-printed", As_printed);
    ("mvar", Mvar);
  ]

let with_pool ~num_domains f =
  let pool = Task.setup_pool ~num_domains () in
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) (fun () -> f pool)

(* The pool needs one domain less, because [Task.run] makes the calling domain work too. *)
let blocking ~domains f =
  with_pool ~num_domains:(domains - 1) @@ fun pool ->
  f (fun n -> Task.run pool (fun () -> Fib.parallel pool n))

let submitted compute ~domains f =
  with_pool ~num_domains:domains @@ fun pool ->
  f (fun n ->
      Concord.Promise.await
        (Concord_domainslib.submit pool (fun () -> compute pool n)))

let composed ~domains f = submitted Fib.parallel ~domains f
let unsplit ~domains f = submitted (fun _ n -> Fib.sequential n) ~domains f

(* One task in each domain takes all requests, as in [domain_manager]. A recursion on a fresh
   stack was slower on the machine of RESULTS.md, and here each domain keeps its stack. *)
let long_lived ~domains f =
  with_pool ~num_domains:domains @@ fun pool ->
  let jobs = Concord.Mailbox.create () in
  let rec work () =
    match Concord.Mailbox.take jobs with
    | exception Concord.Mailbox.Closed -> ()
    | n, result ->
        Concord.Promise.fill result (Fib.sequential n);
        work ()
  in
  let tasks =
    List.init domains (fun _ -> Concord_domainslib.submit pool work)
  in
  let stop () =
    Concord.Mailbox.close jobs;
    List.iter Concord.Promise.await tasks
  in
  Fun.protect ~finally:stop (fun () ->
      f (fun n ->
          let result = Concord.Promise.create () in
          Concord.Mailbox.add jobs (n, result);
          Concord.Promise.await result))

(* --- By a task that Eio's domain starts in the pool itself --- *)

(* A pool has one slot for a domain from outside, and the first request takes it for Eio's
   domain. The pool would drop an exception of [Fib.parallel], and the request would wait
   forever, but [Fib.parallel] doesn't raise. *)

let start pool f = ignore (Task.async pool f : unit Task.promise)

let as_printed ~domains f =
  with_pool ~num_domains:domains @@ fun pool ->
  f (fun n ->
      let promise = Concord.Promise.create () in
      start pool (fun () -> Concord.Promise.fill promise (Fib.parallel pool n));
      Concord.Promise.await promise)

let mvar ~domains f =
  with_pool ~num_domains:domains @@ fun pool ->
  f (fun n ->
      let result = Concord.Mvar.create_empty () in
      start pool (fun () -> Concord.Mvar.put result (Fib.parallel pool n));
      Concord.Mvar.take result)

let eio_promise ~domains f =
  with_pool ~num_domains:domains @@ fun pool ->
  f (fun n ->
      let result, reply = Promise.create () in
      start pool (fun () ->
          Promise.resolve reply
            (match Fib.parallel pool n with
            | number -> Ok number
            | exception e -> Error e));
      Promise.await_exn result)

(* --- Eio alone --- *)

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
  (* Waits until the domains have started, because clients may take all descriptors later. *)
  for _ = 1 to domains do
    Eio.Stream.take ready
  done;
  f (fun n ->
      let result, reply = Promise.create () in
      Eio.Stream.add jobs (n, reply);
      Promise.await result)

let executor_pool ~domains manager f =
  Switch.run @@ fun sw ->
  let pool = Eio.Executor_pool.create ~sw ~domain_count:domains manager in
  let submit f = Eio.Executor_pool.submit_exn pool ~weight:1. f in
  (* Waits until all domains have started, for the same reason. Each of these jobs occupies one
     domain until then. *)
  let up = Concord.Barrier.create domains in
  Fiber.all
    (List.init domains (fun _ () -> submit (fun () -> Concord.Barrier.await up)));
  f (fun n -> submit (fun () -> Fib.sequential n))

let with_fib t ~domains manager f =
  match t with
  | Blocking -> blocking ~domains f
  | Composed -> composed ~domains f
  | Unsplit -> unsplit ~domains f
  | Long_lived -> long_lived ~domains f
  | Domain_manager -> domain_manager ~domains manager f
  | Executor_pool -> executor_pool ~domains manager f
  | Eio_promise -> eio_promise ~domains f
  | As_printed -> as_printed ~domains f
  | Mvar -> mvar ~domains f
