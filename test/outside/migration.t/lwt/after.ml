(* Lwt's promises, loop and I/O stay. Promises wait in Concord's structures, and other domains
   may use these too. *)

open Lwt.Syntax
open Concord_lwt

let () =
  Lwt_main.run
    (let box = Mvar.create_empty () in
     let rec put = function
       | [] -> Lwt.return_unit
       | n :: rest ->
           let* () = Mvar.put box n in
           put rest
     in
     let rec sum total k =
       if k = 0 then Lwt.return total
       else
         let* n = Mvar.take box in
         sum (total + n) (k - 1)
     in
     let* (), total = Lwt.both (put [ 1; 2; 3 ]) (sum 0 3) in
     let* () = Lwt_io.printlf "sum %d" total in
     let lines = Mailbox.create () in
     let rec read () =
       Lwt.try_bind
         (fun () -> Mailbox.take lines)
         (fun line ->
           let* () = Lwt_io.printlf "line %s" line in
           read ())
         (function Mailbox.Closed -> Lwt.return_unit | e -> Lwt.fail e)
     in
     let reader = read () in
     List.iter (Mailbox.add lines) [ "one"; "two" ];
     Mailbox.close lines;
     let* () = reader in
     let bounded = Stream.create 1 in
     let* () = Stream.add bounded 1 in
     let waiting = Stream.add bounded 2 in
     let* () = Lwt_io.printlf "full %b" (Lwt.is_sleeping waiting) in
     let* _ = Stream.take bounded in
     let* () = waiting in
     let mutex = Mutex.create () and changed = Condition.create () in
     let ready = ref false in
     let waiter =
       Mutex.with_lock mutex (fun () ->
           let rec wait () =
             if !ready then Lwt.return_unit
             else
               let* () = Condition.wait changed mutex in
               wait ()
           in
           let* () = wait () in
           Lwt_io.printl "ready")
     in
     let* () =
       Mutex.with_lock mutex (fun () ->
           ready := true;
           Condition.broadcast changed;
           Lwt.return_unit)
     in
     let* () = waiter in
     let* first =
       select
         [
           Concord.Event.wrap (Concord.Event.timeout 10.) (fun () -> "slow");
           Concord.Event.always "fast";
         ]
     in
     let* () = Lwt_io.printl first in
     let* late = sync_before 0.01 (Mvar.take_evt box) in
     let* () =
       Lwt_io.printl (if late = None then "too late" else "impossible")
     in
     let promise = Promise.create () in
     let domain = Domain.spawn (fun () -> Concord.Promise.fill promise 42) in
     let* answer = Promise.await promise in
     Domain.join domain;
     Lwt_io.printlf "answer %d" answer)
