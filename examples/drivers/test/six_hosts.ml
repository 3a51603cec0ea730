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

let in_workers f =
  Workers.with_workers ~domains:1 (fun workers ->
      List.iter Promise.await
        (List.map (fun i -> Workers.submit workers (fun () -> f i)) [ 1; 2; 3 ]))

(* A domain that is in [Domainslib.Task.run] delays the other threads of its domain, so it
   gets one of its own. *)
let run f =
  let joins =
    [
      domain (fun () -> in_eio f);
      domain (fun () -> in_lwt f);
      thread (fun () -> in_fifo f);
      domain (fun () -> in_domainslib f);
      thread (fun () -> in_workers f);
      thread (fun () -> f 1);
    ]
  in
  List.iter (fun join -> join ()) joins
