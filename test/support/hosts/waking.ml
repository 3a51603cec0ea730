(* Tasks of other hosts, which wake a task. *)

open Concord
open Concord_test_support

(* Runs the function in a task of the host, in another domain. The result waits for its end, and
   raises what the function raised. *)
let by host f = Check.domain (fun () -> Test_host.run_all host [ f ])

let on_another_domain =
  [
    ("a domain", Check.domain);
    ("Fifo", by Basic_hosts.fifo);
    ("Eio", fun f -> Check.domain (fun () -> Eio_main.run (fun _ -> f ())));
  ]

let starts = ("a thread", Check.thread) :: on_another_domain

(* Passes [f] a function that runs a job in the one task that [start] starts. *)
let with_jobs start f =
  let jobs = Mailbox.create () in
  let join = start (fun () -> Mailbox.iter (fun job -> job ()) jobs) in
  Fun.protect
    (fun () -> f (Mailbox.add jobs))
    ~finally:(fun () ->
      Mailbox.close jobs;
      join ())
