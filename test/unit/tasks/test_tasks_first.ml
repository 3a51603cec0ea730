open Concord_test_support
open Concord_test_hosts
open Check
open Tasks_first

let pool_task n f =
  let pool = Domainslib.Task.setup_pool ~num_domains:n () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool (Tasks_cases.with_backtraces f))

let () =
  run "Tasks: first, any, timeouts, lists"
    (List.map everywhere
       (Tasks_cases.places
       @ [ ("a pool", pool_task 1); ("a pool of one domain", pool_task 0) ])
    @ [
        from_outside "Fifo" (Cancelling.fifo `Eager);
        from_outside "Fifo, lazy" (Cancelling.fifo `Lazy);
        from_outside "Eio" (Cancelling.eio ~protects:true);
        from_outside "by hand" Cancelling.hand;
        cannot_cancel;
        ( "limits, Eio",
          let host =
            let { Cancelling.run; fork; is_cancellation; _ } =
              Cancelling.eio ~protects:true
            in
            { Limits.run; fork = Some fork; is_cancellation }
          in
          [
            test "a storm" (Limits.storm host);
            test "a storm, on another domain"
              (Limits.storm (Limits.on_a_domain host));
          ] );
      ])
