(* Async's deferreds, scheduler and I/O stay. Deferreds wait in Concord's structures, and other
   domains may use these too. *)

open Core
open Async
open Concord_async

let main () =
  let box = Mvar.create_empty () in
  let put n = Mvar.put box n in
  let rec sum total k =
    if k = 0 then return total
    else Mvar.take box >>= fun n -> sum (total + n) (k - 1)
  in
  Deferred.both
    (Deferred.List.iter ~how:`Sequential [ 1; 2; 3 ] ~f:put)
    (sum 0 3)
  >>= fun ((), total) ->
  printf "sum %d\n" total;
  let lines = Mailbox.create () in
  let rec read () =
    Monitor.try_with ~extract_exn:true (fun () -> Mailbox.take lines)
    >>= function
    | Ok line ->
        printf "line %s\n" line;
        read ()
    | Error Mailbox.Closed -> return ()
    | Error e -> raise e
  in
  let read = read () in
  List.iter [ "one"; "two" ] ~f:(Mailbox.add lines);
  Mailbox.close lines;
  read >>= fun () ->
  let answer = Promise.create () in
  let domain = Stdlib.Domain.spawn (fun () -> Promise.fill answer 42) in
  Promise.await answer >>= fun n ->
  Stdlib.Domain.join domain;
  printf "answer %d\n" n;
  sync_before 0.01 (Mvar.take_evt box) >>= fun late ->
  (match late with
  | None -> printf "too late\n"
  | Some (_ : int) -> printf "impossible\n");
  let permits = Semaphore.Counting.make 2 in
  Semaphore.Counting.acquire permits >>= fun () ->
  Monitor.protect
    (fun () -> return 2)
    ~finally:(fun () -> return (Semaphore.Counting.release permits))
  >>| fun n -> printf "permit %d\n" n

let () =
  upon (main ()) (fun () -> shutdown 0);
  never_returns (go ())
