(* Counts words on several domains. Threads read, domains count, and one thread sums up. No
   scheduler is linked. *)

open Concord

let texts =
  [
    "the quick brown fox jumps over the lazy dog";
    "the dog barks at the fox";
    "the fox runs and the dog sleeps";
  ]

let words text = List.filter (( <> ) "") (String.split_on_char ' ' text)

(* A bounded queue keeps readers from running ahead of the counting domains. *)
let lines : string Stream.t = Stream.create 2

module Counts = Map.Make (String)

let counts = Mvar.create Counts.empty

let count_word word =
  Mvar.modify counts (fun counts ->
      let more = function None -> Some 1 | Some n -> Some (n + 1) in
      (Counts.update word more counts, ()))

let rec counter () =
  match Stream.take lines with
  | line ->
      List.iter count_word (words line);
      counter ()
  | exception Stream.Closed -> ()

(* --- A barrier, a latch, a lock and a condition --- *)

let ready = Latch.create 2
let mutex = Mutex.create ()
let changed = Condition.create ()
let finished = ref 0

let finish () =
  Mutex.protect mutex (fun () ->
      incr finished;
      Condition.broadcast changed)

let wait_for_all n =
  Mutex.protect mutex (fun () ->
      while !finished < n do
        Condition.wait changed mutex
      done)

let () =
  let counters =
    List.init 2 (fun _ ->
        Domain.spawn (fun () ->
            Latch.count_down ready;
            counter ();
            finish ()))
  in
  Latch.await ready;
  let readers =
    List.map (Thread.create (fun text -> Stream.add lines text)) texts
  in
  List.iter Thread.join readers;
  Stream.close lines;
  wait_for_all 2;
  List.iter Domain.join counters;
  Counts.iter
    (fun word n -> if n > 1 then Printf.printf "%-4s %d\n" word n)
    (Mvar.read counts);

  (* A timeout, and a choice. *)
  let replies = Mailbox.create () in
  (match Event.sync_before 0.01 (Mailbox.take_evt replies) with
  | Some reply -> print_endline reply
  | None -> print_endline "no reply in time");
  let stop = Promise.create () and served = Semaphore.Counting.make 0 in
  let server =
    Thread.create
      (fun () ->
        let rec serve () =
          match
            Event.select
              [
                Event.wrap (Mailbox.take_evt replies) Option.some;
                Event.wrap (Promise.await_evt stop) (fun () -> None);
              ]
          with
          | Some text ->
              print_endline ("served " ^ text);
              Semaphore.Counting.release served;
              serve ()
          | None -> print_endline "stopped"
        in
        serve ())
      ()
  in
  Mailbox.add replies "one";
  Semaphore.Counting.acquire served;
  Promise.fill stop ();
  Thread.join server;

  (* Tasks that end together, on a plain thread. *)
  let squares = Tasks.all (List.init 4 (fun i () -> i * i)) in
  print_endline (String.concat " " (List.map string_of_int squares));
  match
    Scope.run (fun scope ->
        Scope.fork scope (fun () -> failwith "out of paper");
        Promise.await (Promise.create ()))
  with
  | () -> ()
  | exception Failure why -> print_endline why
