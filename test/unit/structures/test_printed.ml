(* An uncaught exception of the library must be printed under a name that a program can
   write. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let constants () =
  named "Scope" "Concord.Scope.Cancelled" Scope.Cancelled;
  named "Promise" "Concord.Promise.Already_filled" Promise.Already_filled;
  named "Lazy" "Concord.Lazy.Being_forced" Lazy.Being_forced;
  named "Suspend" "Concord.Tools.Suspend.Never_resumed" Suspend.Never_resumed;
  named "Suspend" "Concord.Tools.Suspend.In_handler" Suspend.In_handler;
  named "Host_kit" "Concord.Tools.Host_kit.Elsewhere" Host_kit.Elsewhere;
  named "Fifo" "Concord_fifo.Cancelled" Concord_fifo.Cancelled

(* All structures that can be closed share this exception. *)
let closed () =
  named "no structure is known" "Concord.Stream.Closed" Stream.Closed;
  no "not by a name that programs can't write"
    (contains (Printexc.to_string Stream.Closed) "Concord.Closed");
  let printed name use =
    match use () with
    | () -> Alcotest.fail (name ^ ": nothing was raised")
    | exception e -> named name (Printf.sprintf "Concord.%s.Closed" name) e
  in
  let stream = Stream.create 1 and channel = Channel.create ~name:"orders" () in
  let mailbox = Mailbox.create ~name:"post" () in
  let broadcast = Broadcast.create ~name:"news" () in
  Stream.close stream;
  Channel.close channel;
  Mailbox.close mailbox;
  Broadcast.close broadcast;
  let watch = Watch.create ~name:"news" () in
  Watch.close watch;
  printed "Channel" (fun () -> Channel.send channel ());
  printed "Mailbox" (fun () -> Mailbox.add mailbox ());
  printed "Broadcast" (fun () -> Broadcast.send broadcast ());
  let pool = Pool.create ~name:"connections" 1 ignore in
  Pool.close pool;
  let jobs = Work_queue.create ~name:"jobs" 1 in
  Work_queue.close jobs;
  printed "Work_queue" (fun () -> Work_queue.take jobs);
  printed "Pool" (fun () -> Pool.use pool ignore);
  printed "Watch" (fun () -> Watch.set watch ());
  printed "Stream" (fun () -> Stream.take stream)

let lagged () =
  let is what printed e =
    Alcotest.(check string) what printed (Printexc.to_string e)
  in
  let use ?name () =
    let t = Broadcast.create ?name ~limit:(Drop_oldest 1) () in
    let s = Broadcast.subscribe t in
    Broadcast.send_seq t (Seq.init 4 Fun.id);
    match Broadcast.receive s with
    | (_ : int) -> Alcotest.fail "nothing was raised"
    | exception e -> e
  in
  let news = use ~name:"news" () in
  is "with a name" "Concord.Broadcast.Lagged(3) (broadcast \"news\")" news;
  is "another" "Concord.Broadcast.Lagged(3)" (Broadcast.Lagged 3)

let () =
  run "How exceptions are printed"
    [
      ( "by their names",
        [ test "all" constants; test "Closed" closed; test "Lagged" lagged ] );
    ]
