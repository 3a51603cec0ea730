open Concord
open Concord.Tools

let rec poll is_set = if not (Atomic.get is_set) then poll is_set

let () =
  Workers.with_workers ~domains:1 (fun pool ->
      let is_set = Atomic.make false in
      let polled = Workers.submit pool (fun () -> poll is_set) in
      let set = Workers.submit pool (fun () -> Atomic.set is_set true) in
      Promise.await (Debug.named "set" set);
      Promise.await polled;
      print_endline "done")
