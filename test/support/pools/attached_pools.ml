module Pool = Domainslib.Task

let with_pool ?name ?(num_domains = 1) f =
  let pool = Pool.setup_pool ~num_domains () in
  Concord_domainslib.attach ?name pool;
  match f pool with
  | v ->
      Concord_domainslib.teardown pool;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Pool.teardown_pool pool;
      Printexc.raise_with_backtrace e backtrace
