open Test_host
module Task = Domainslib.Task

let pool =
  {
    name = "Domainslib";
    reported = "domainslib";
    run =
      (fun body ->
        let pool = Task.setup_pool ~num_domains:0 () in
        let all = ref [] in
        let fork f = all := Task.async pool f :: !all in
        Task.run pool (fun () ->
            body { fork; pause = Concord.Tasks.yield };
            List.iter (Task.await pool) !all);
        Task.teardown_pool pool);
    cancel = None;
  }
