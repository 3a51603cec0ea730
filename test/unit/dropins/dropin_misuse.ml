(* Prints the exceptions that programming errors raise. *)

let raised f =
  match f () with
  | _ -> "nothing"
  | exception Sys_error _ -> "Sys_error"
  | exception Invalid_argument _ -> "Invalid_argument"
  | exception e -> Printexc.to_string e

let report what f = Printf.printf "%s: %s\n" what (raised f)

let mutex () =
  let m = Mutex.create () in
  (match Mutex.unlock m with
  | () -> print_endline "unlocked"
  | exception Sys_error message -> print_endline message);
  Mutex.lock m;
  Printf.printf "try_lock while locked: %b\n"
    (Domain.join (Domain.spawn (fun () -> Mutex.try_lock m)));
  Mutex.unlock m;
  report "unlock twice" (fun () -> Mutex.unlock m);
  Printf.printf "try_lock: %b\n" (Mutex.try_lock m);
  Mutex.unlock m;
  report "protect of what raises" (fun () ->
      Mutex.protect m (fun () -> raise Exit));
  Printf.printf "not poisoned: %d\n" (Mutex.protect m (fun () -> 5));
  report "protect of what unlocks" (fun () ->
      Mutex.protect m (fun () -> Mutex.unlock m));
  report "wait without the mutex" (fun () ->
      Condition.wait (Condition.create ()) m)

let condition () =
  let c = Condition.create () in
  Condition.signal c;
  Condition.broadcast c;
  print_endline "signals without waiters are lost"

let semaphore () =
  report "negative" (fun () -> Semaphore.Counting.make (-1));
  let most = Semaphore.Counting.make max_int in
  (match Semaphore.Counting.release most with
  | () -> print_endline "released"
  | exception Sys_error message -> print_endline message);
  let one = Semaphore.Binary.make true in
  Semaphore.Binary.release one;
  Semaphore.Binary.release one;
  let first = Semaphore.Binary.try_acquire one in
  let second = Semaphore.Binary.try_acquire one in
  Printf.printf "released twice: %b, then %b\n" first second

let () =
  mutex ();
  condition ();
  semaphore ()
