open Concord
open Test_host
module Task = Domainslib.Task

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
          Task.await pool (Task.async pool f)))

let only_domain =
  {
    name = "the only domain of a pool";
    reported = "domainslib";
    run =
      (fun body ->
        Attached_pools.with_pool ~num_domains:0 (fun pool ->
            let all = ref [] in
            let fork f = all := Task.async pool f :: !all in
            Task.run pool (fun () ->
                body { fork; pause = Concord.Tasks.yield };
                List.iter (Task.await pool) !all)));
    cancel = None;
  }
