(* The test of [test_heap_memory] on hosts of other libraries. *)

open Concord_test_support
module Pool = Domainslib.Task

let eio () = Eio_main.run (fun _ -> Round.run ())

(* All rounds use one pool, because each pool leaves some words of Domainslib's behind. *)
let pool = lazy (Pool.setup_pool ~num_domains:1 ())

let task () =
  let pool = Lazy.force pool in
  Pool.run pool (fun () -> Pool.await pool (Pool.async pool Round.run))

let lwt () = Concord_lwt.run (fun () -> Concord_lwt.direct Round.run)
let lwt_direct () = Concord_lwt.run (fun () -> Lwt_direct.spawn Round.run)

let () =
  Check.run "The heap after 100 rounds, hosts"
    [
      ( "tasks",
        List.concat
          [
            Level.test "Eio" eio;
            Level.test "Domainslib" task;
            Level.test "Lwt" lwt;
            Level.test "Lwt_direct" lwt_direct;
          ] );
      ( "shared structures",
        [
          Check.test "no task waits" (fun () ->
              Check.yes "no task waits" (Round.nobody_waits ());
              Pool.teardown_pool (Lazy.force pool));
        ] );
    ]
