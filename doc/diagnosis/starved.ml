open Concord
open Concord.Tools

let rec poll is_set = if not (Atomic.get is_set) then poll is_set

let () =
  Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
      let is_set = Atomic.make false in
      let polled = Concord_domainslib.submit pool (fun () -> poll is_set) in
      let set =
        Concord_domainslib.submit pool (fun () -> Atomic.set is_set true)
      in
      Promise.await (Debug.named "set" set);
      Promise.await polled;
      print_endline "done")
