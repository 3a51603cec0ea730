open Concord
open Test_host

let with_pool f = Attached_pools.with_pool ~name:"workers" ~num_domains:2 f

(* [start pool f] returns a promise that is filled when [f] has ended. *)
let host name start =
  {
    name;
    reported = "domainslib";
    run =
      (fun body ->
        with_pool (fun pool ->
            let all = ref [] in
            let fork f = all := start pool f :: !all in
            body { fork; pause = (fun () -> Unix.sleepf 0.001) };
            List.iter Promise.await !all));
    cancel = None;
  }

let jobs = host "jobs of a pool" Concord_domainslib.submit

let tasks =
  host "tasks of a pool" (fun pool f ->
      Concord_domainslib.submit pool (fun () ->
          Domainslib.Task.await pool (Domainslib.Task.async pool f)))
