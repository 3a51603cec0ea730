open Concord
open Concord_test_support
open Check

let in_eio f = Eio_main.run (fun _ -> Eio.Fiber.List.iter f [ 1; 2; 3 ])

let in_lwt f =
  Concord_lwt.run (fun () ->
      Lwt_list.iter_p (fun i -> Concord_lwt.direct (fun () -> f i)) [ 1; 2; 3 ])

let in_fifo f = Concord_fifo.run (fun () -> Tasks.iter f [ 1; 2; 3 ])

let in_domainslib f =
  let module Pool = Domainslib.Task in
  let pool = Pool.setup_pool ~num_domains:0 () in
  Pool.run pool (fun () ->
      List.iter (Pool.await pool)
        (List.map (fun i -> Pool.async pool (fun () -> f i)) [ 1; 2; 3 ]));
  Pool.teardown_pool pool

let in_workers workers f =
  List.iter Promise.await
    (List.map (fun i -> Workers.submit workers (fun () -> f i)) [ 1; 2; 3 ])

(* [start serve] starts a thread or a domain, which stays until the program ends, because a
   domain that ends may crash OCaml 5.4 (doc/limits.mld). *)
let resident start serve =
  let jobs = Mailbox.create () in
  let join = start (fun () -> serve jobs) in
  at_exit (fun () ->
      Mailbox.close jobs;
      join ());
  jobs

let add jobs job =
  let ended = Promise.create () in
  Mailbox.add jobs (fun v ->
      match job v with
      | () -> Promise.fill ended ()
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Promise.fail ~backtrace ended e);
  ended

let in_domain () = resident domain (Mailbox.iter (fun job -> job ()))
let eio = Lazy.from_fun in_domain
let lwt = Lazy.from_fun in_domain

(* A domain that is in [Domainslib.Task.run] delays the other threads of its domain, so it
   gets one of its own. *)
let domainslib = Lazy.from_fun in_domain

let workers =
  Lazy.from_fun (fun () ->
      resident thread (fun jobs ->
          Workers.with_workers ~domains:1 (fun workers ->
              Mailbox.iter (fun job -> job workers) jobs)))

let run f =
  let others =
    [
      add (Lazy.force eio) (fun () -> in_eio f);
      add (Lazy.force lwt) (fun () -> in_lwt f);
      add (Lazy.force domainslib) (fun () -> in_domainslib f);
      add (Lazy.force workers) (fun workers -> in_workers workers f);
    ]
  in
  let joins = [ thread (fun () -> in_fifo f); thread (fun () -> f 1) ] in
  List.iter (fun join -> join ()) joins;
  List.iter Promise.await others
