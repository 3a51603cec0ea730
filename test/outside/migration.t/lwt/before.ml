open Lwt.Syntax

let () =
  Lwt_main.run
    ((* An MVar. *)
     let box = Lwt_mvar.create_empty () in
     let rec put = function
       | [] -> Lwt.return_unit
       | n :: rest ->
           let* () = Lwt_mvar.put box n in
           put rest
     in
     let rec sum total k =
       if k = 0 then Lwt.return total
       else
         let* n = Lwt_mvar.take box in
         sum (total + n) (k - 1)
     in
     let* (), total = Lwt.both (put [ 1; 2; 3 ]) (sum 0 3) in
     let* () = Lwt_io.printlf "sum %d" total in
     (* Streams, bounded and unbounded. *)
     let lines, push = Lwt_stream.create () in
     let reader =
       Lwt_stream.iter_s (fun line -> Lwt_io.printlf "line %s" line) lines
     in
     List.iter (fun line -> push (Some line)) [ "one"; "two" ];
     push None;
     let* () = reader in
     let bounded, source = Lwt_stream.create_bounded 1 in
     let* () = source#push 1 in
     let waiting = source#push 2 in
     let* () = Lwt_io.printlf "full %b" (Lwt.is_sleeping waiting) in
     let* _ = Lwt_stream.next bounded in
     let* () = waiting in
     (* A mutex and a condition. *)
     let mutex = Lwt_mutex.create () and changed = Lwt_condition.create () in
     let ready = ref false in
     let waiter =
       Lwt_mutex.with_lock mutex (fun () ->
           let rec wait () =
             if !ready then Lwt.return_unit
             else
               let* () = Lwt_condition.wait ~mutex changed in
               wait ()
           in
           let* () = wait () in
           Lwt_io.printl "ready")
     in
     let* () =
       Lwt_mutex.with_lock mutex (fun () ->
           ready := true;
           Lwt_condition.broadcast changed ();
           Lwt.return_unit)
     in
     let* () = waiter in
     (* The first of two, and a timeout. *)
     let* first =
       Lwt.pick
         [
           (let* () = Lwt_unix.sleep 10. in
            Lwt.return "slow");
           Lwt.return "fast";
         ]
     in
     let* () = Lwt_io.printl first in
     let* late =
       Lwt.catch
         (fun () ->
           Lwt_unix.with_timeout 0.01 (fun () ->
               let* n = Lwt_mvar.take box in
               Lwt.return (Some n)))
         (function Lwt_unix.Timeout -> Lwt.return_none | e -> Lwt.fail e)
     in
     let* () =
       Lwt_io.printl (if late = None then "too late" else "impossible")
     in
     (* A promise that others resolve. *)
     let promise, resolver = Lwt.wait () in
     Lwt.wakeup resolver 42;
     let* answer = promise in
     Lwt_io.printlf "answer %d" answer)
