(* The program that test_top looks at. Once it is traced, three threads wait for letters that never
   come. Two others lock a mutex in turn, and each keeps it for 10 ms. *)

open Concord
open Concord.Tools

let () =
  let letters : unit Mailbox.t = Mailbox.create ~name:"letters" () in
  let lock = Debug.named "lock" (Mutex.create_in_order ()) in
  print_endline "ready";
  while not (Trace.is_on ()) do
    Unix.sleepf 0.001
  done;
  let waits () = Mailbox.take letters in
  let threads = List.init 3 (fun _ -> Thread.create waits ()) in
  let rec work () =
    Mutex.protect lock (fun () -> Unix.sleepf 0.01);
    work ()
  in
  let threads = threads @ List.init 2 (fun _ -> Thread.create work ()) in
  List.iter Thread.join threads
