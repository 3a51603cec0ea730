(* Tasks that need no other library wait in all operations. *)

open Tasks_waiting

let () =
  domain Basic_hosts.fifo ~all:true;
  domain Basic_hosts.workers ~all:false;
  domain (Test_host.within ~outer:Basic_hosts.fifo Basic_hosts.fifo) ~all:false;
  answer ();
  in_a_host Basic_hosts.threads ~all:true ()
