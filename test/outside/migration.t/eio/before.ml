open Eio

exception No_more

let () =
  Eio_main.run @@ fun env ->
  let clock = Stdenv.clock env in
  (* A producer and a consumer. None marks the end. *)
  let items = Stream.create 2 in
  let sum, () =
    Fiber.pair
      (fun () ->
        let rec add sum =
          match Stream.take items with Some n -> add (sum + n) | None -> sum
        in
        add 0)
      (fun () ->
        for i = 1 to 5 do
          Stream.add items (Some i)
        done;
        Stream.add items None)
  in
  traceln "sum %d" sum;
  (* A promise that fails. *)
  let promise, resolver = Promise.create () in
  Fiber.both
    (fun () ->
      match Promise.await promise with
      | Ok () -> traceln "impossible"
      | Error No_more -> traceln "no more"
      | Error e -> raise e)
    (fun () -> Promise.resolve_error resolver No_more);
  (* A lock and permits. *)
  let mutex = Mutex.create () and visits = ref 0 in
  let desks = Semaphore.make 2 in
  Switch.run (fun sw ->
      for _ = 1 to 3 do
        Fiber.fork ~sw (fun () ->
            Semaphore.acquire desks;
            Mutex.use_rw ~protect:true mutex (fun () -> incr visits);
            Semaphore.release desks)
      done);
  traceln "visits %d" !visits;
  (* A condition. *)
  let changed = Condition.create () and ready = ref false in
  Fiber.both
    (fun () ->
      Mutex.use_ro mutex (fun () ->
          while not !ready do
            Condition.await changed mutex
          done;
          traceln "ready"))
    (fun () ->
      Mutex.use_rw ~protect:true mutex (fun () -> ready := true);
      Condition.broadcast changed);
  (* A timeout, and the first of two. *)
  let quiet = Stream.create 1 in
  (match Time.with_timeout clock 0.01 (fun () -> Ok (Stream.take quiet)) with
  | Ok () -> traceln "impossible"
  | Error `Timeout -> traceln "too late");
  Stream.add quiet ();
  traceln "%s"
    (Fiber.first
       (fun () ->
         Stream.take quiet;
         "first")
       (fun () -> Fiber.await_cancel ()));
  (* A computation that all fibers share. *)
  let computed = ref 0 in
  let table =
    Lazy.from_fun ~cancel:`Restart (fun () ->
        incr computed;
        Fiber.yield ();
        42)
  in
  let a, b =
    Fiber.pair (fun () -> Lazy.force table) (fun () -> Lazy.force table)
  in
  traceln "%d, computed %d" (a + b) !computed
