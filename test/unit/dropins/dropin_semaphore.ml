(* A critical section for three threads at a time, and two threads that take turns. *)

let section () =
  let permits = Semaphore.Counting.make 3 in
  let inside = Atomic.make 0 and wrong = Atomic.make 0 in
  let entered = Atomic.make 0 in
  let work () =
    for _ = 1 to 200 do
      Semaphore.Counting.acquire permits;
      if Atomic.fetch_and_add inside 1 >= 3 then Atomic.incr wrong;
      Atomic.incr entered;
      Thread.yield ();
      Atomic.decr inside;
      Semaphore.Counting.release permits
    done
  in
  let threads () =
    List.iter Thread.join (List.init 4 (fun _ -> Thread.create work ()))
  in
  let other = Domain.spawn threads in
  threads ();
  Domain.join other;
  Printf.printf "entered %d times, %d times too many were inside, %d permits\n"
    (Atomic.get entered) (Atomic.get wrong)
    (Semaphore.Counting.get_value permits);
  let tries = List.init 4 (fun _ -> Semaphore.Counting.try_acquire permits) in
  List.iter (Printf.printf "%b ") tries;
  print_newline ()

let game () =
  let ping = Semaphore.Binary.make true in
  let pong = Semaphore.Binary.make false in
  let play word mine other () =
    for i = 1 to 5 do
      Semaphore.Binary.acquire mine;
      Printf.printf "%s %d\n%!" word i;
      Semaphore.Binary.release other
    done
  in
  let player = Thread.create (play "pong" pong ping) () in
  play "ping" ping pong ();
  Thread.join player;
  Printf.printf "ping may begin: %b, pong: %b\n"
    (Semaphore.Binary.try_acquire ping)
    (Semaphore.Binary.try_acquire pong)

(* As many waiters are served as there are releases, and the other permits remain. *)
let served () =
  let permits = Semaphore.Counting.make 0 in
  let waiters =
    List.init 5 (fun _ -> Thread.create Semaphore.Counting.acquire permits)
  in
  for _ = 1 to 7 do
    Semaphore.Counting.release permits
  done;
  List.iter Thread.join waiters;
  Printf.printf "left: %d\n" (Semaphore.Counting.get_value permits)

let () =
  section ();
  game ();
  served ()
