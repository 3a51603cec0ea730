(* A bounded queue, a pool of permits, channels and a lazy table, with Stdlib and its threads. *)

let capacity = 2

type 'a queue = {
  mutex : Mutex.t;
  not_full : Condition.t;
  not_empty : Condition.t;
  items : 'a Queue.t;
}

let create () =
  {
    mutex = Mutex.create ();
    not_full = Condition.create ();
    not_empty = Condition.create ();
    items = Queue.create ();
  }

let add q x =
  Mutex.protect q.mutex (fun () ->
      while Queue.length q.items = capacity do
        Condition.wait q.not_full q.mutex
      done;
      Queue.add x q.items;
      Condition.signal q.not_empty)

let take q =
  Mutex.protect q.mutex (fun () ->
      while Queue.is_empty q.items do
        Condition.wait q.not_empty q.mutex
      done;
      let x = Queue.take q.items in
      Condition.signal q.not_full;
      x)

let squares = lazy (Array.init 11 (fun i -> i * i))

let () =
  let q = create () in
  let producer =
    Thread.create (fun () -> List.iter (add q) [ 1; 2; 3; 10 ]) ()
  in
  let sum = ref 0 in
  for _ = 1 to 4 do
    sum := !sum + (Lazy.force squares).(take q)
  done;
  Thread.join producer;
  Printf.printf "sum %d\n" !sum;
  let permits = Semaphore.Counting.make 2 in
  Semaphore.Counting.acquire permits;
  Printf.printf "permits left %d\n" (Semaphore.Counting.get_value permits);
  let questions = Event.new_channel () and answers = Event.new_channel () in
  let oracle =
    Thread.create
      (fun () ->
        let n = Event.sync (Event.receive questions) in
        Event.sync (Event.send answers (n + 1)))
      ()
  in
  Event.sync (Event.send questions 41);
  let quiet = Event.new_channel () in
  Printf.printf "answer %d\n"
    (Event.select
       [ Event.receive answers; Event.wrap (Event.receive quiet) String.length ]);
  Thread.join oracle;
  let m = Mutex.create () in
  (match Mutex.unlock m with
  | () -> print_endline "unlocked twice"
  | exception Sys_error _ -> print_endline "not locked");
  print_endline
    (match Domain.join (Domain.spawn (fun () -> Mutex.try_lock m)) with
    | true -> "another domain locked it"
    | false -> "locked")
