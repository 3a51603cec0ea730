(* Tasks of other libraries wait. *)

open Tasks_waiting

let () =
  domain Eio_hosts.fibers ~all:true;
  domain Job_hosts.jobs ~all:false;
  domain Job_hosts.tasks ~all:false;
  domain (Test_host.within ~outer:Eio_hosts.fibers Basic_hosts.fifo) ~all:false;
  answer ();
  in_a_host (Lwt_hosts.promises Concord_lwt.run) ~all:false ()
