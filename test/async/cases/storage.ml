(* The values of Async's execution context, in tasks that Concord starts in [direct]. *)

open Concord_test_hosts.Storage_cases
module Scheduler = Async_kernel.Async_kernel_scheduler

let key = Core.Univ_map.Key.create ~name:"value" Core.Int.sexp_of_t

let context =
  {
    bind = (fun v f -> Scheduler.with_local key v ~f);
    get = (fun () -> Scheduler.find_local key);
    inherited = true;
  }

let direct f =
  Async.Thread_safe.block_on_async_exn (fun () -> Concord_async.direct f)

let suites =
  [
    suite kept ~also:[ fifo_inside ] ("values in direct", direct) context;
    suite kept ~also:[ fifo_inside ] ("Local in direct", direct) local;
  ]
