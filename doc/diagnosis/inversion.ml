open Concord
open Concord.Tools

let accounts = Debug.named "accounts" (Mutex.create ())
let journal = Debug.named "journal" (Mutex.create ())

(* Makes sure that the deadlock happens each time. *)
let both_have_one = Barrier.create 2

let transfer () =
  Mutex.protect accounts (fun () ->
      Barrier.await both_have_one;
      Mutex.lock journal;
      print_endline "transferred";
      Mutex.unlock journal)

let audit () =
  Mutex.protect journal (fun () ->
      Barrier.await both_have_one;
      Mutex.lock accounts;
      print_endline "audited";
      Mutex.unlock accounts)

let () =
  Eio_main.run (fun _ ->
      Workers.with_workers ~domains:1 (fun pool ->
          let audited = Workers.submit pool audit in
          transfer ();
          Promise.await audited;
          print_endline "all done"))
