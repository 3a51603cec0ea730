open Concord_test_support
open Concord_test_hosts
open Check
open Tasks_cases

let pool_task n f =
  let pool = Domainslib.Task.setup_pool ~num_domains:n () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool f)

let job f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () ->
      Concord.Promise.await (Concord_domainslib.submit pool (with_backtraces f)))

let more_places =
  [
    ("a pool", pool_task 1);
    ("a pool of one domain", pool_task 0);
    ("a job", job);
    ("a pool in Fifo", within fifo (pool_task 1));
    ("Fifo in a pool", within (pool_task 1) fifo);
    ("Eio in a pool", within (pool_task 0) eio);
  ]

let both_in_pool f g =
  let pool = Domainslib.Task.setup_pool ~num_domains:0 () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () ->
      Domainslib.Task.run pool (fun () ->
          let other = Domainslib.Task.async pool g in
          f ();
          Domainslib.Task.await pool other))

let both_in_fifo f g =
  Concord_fifo.run (fun () ->
      let other = Concord_fifo.fork_promise f in
      g ();
      Concord.Promise.await other)

let () =
  run "Tasks"
    (List.map everywhere (places @ more_places)
    @ [
        Tasks_cancelled.from_outside "Fifo" (Cancelling.fifo `Eager);
        Tasks_cancelled.from_outside "Fifo, lazy" (Cancelling.fifo `Lazy);
        Tasks_cancelled.from_outside "Eio" (Cancelling.eio ~protects:true);
        Tasks_cancelled.from_outside "by hand" Cancelling.hand;
        Tasks_cancelled.cannot_cancel;
        ( "is_cancellation",
          Tasks_cancelled.
            [
              test "Fifo" (is_known (Cancelling.fifo `Eager));
              test "Eio" (is_known (Cancelling.eio ~protects:true));
              test "workers" (is_known Cancelling.workers);
              test "scopes and jobs" are_known;
            ] );
        ( "beside others",
          [
            test "thread" (beside_others both_in_thread);
            test "Fifo" (beside_others both_in_fifo);
            test "Eio" (beside_others both_in_eio);
            test "a pool" (beside_others both_in_pool);
          ] );
        ("a signal handler raises", Tasks_interrupted.interrupts);
      ])
