(* Every structure of Concord serves tasks of the new scheduler, together with a thread and a
   domain. *)

open Concord

let say fmt = Printf.printf (fmt ^^ "\n%!")

let () =
  Ring.run (fun () ->
      let box = Mvar.create_empty () in
      let taker name () =
        match Mvar.take box with
        | v -> say "%s has %d" name v
        | exception Ring.Cancelled ->
            say "%s was cancelled" name;
            raise Ring.Cancelled
      in
      let first = Ring.fork (taker "first") in
      ignore (Ring.fork (taker "second"));
      Ring.yield ();
      Ring.cancel first;
      ignore (Ring.fork (taker "third"));
      let put_both () =
        Mvar.put box 1;
        Thread.join (Thread.create (fun () -> Mvar.put box 2) ())
      in
      Ring.yield ();
      ignore (Domain.spawn put_both))

(* The task is resumed first and then cancelled, so it keeps the value. *)
let () =
  Ring.run (fun () ->
      let box = Mvar.create_empty () in
      let taker =
        Ring.fork (fun () ->
            say "has %d" (Mvar.take box);
            Ring.yield ();
            say "never printed")
      in
      Ring.yield ();
      Mvar.put box 3;
      Ring.cancel taker)

(* A task that is cancelled while it waits for a condition locks its mutex again. *)
let () =
  Ring.run (fun () ->
      let mutex = Mutex.create () and changed = Condition.create () in
      let waiter =
        Ring.fork (fun () ->
            Mutex.protect mutex (fun () ->
                try Condition.wait changed mutex
                with Ring.Cancelled as e ->
                  say "locked: %b" (Mutex.is_locked mutex);
                  raise e))
      in
      Ring.yield ();
      Mutex.lock mutex;
      Ring.cancel waiter;
      Ring.yield ();
      Mutex.unlock mutex)

(* A choice, and its timeout. *)
let () =
  Ring.run (fun () ->
      let never = Promise.create () in
      match Event.sync_before 0.01 (Promise.await_evt never) with
      | Some () -> say "impossible"
      | None -> say "too late")

(* A library that starts its own tasks, and doesn't know any scheduler. *)
let () =
  Ring.run (fun () ->
      let a, b =
        Tasks.both
          (fun () ->
            Tasks.yield ();
            1)
          (fun () -> 2)
      in
      say "both: %d" (a + b);
      say "cancelled: %b" (Tasks.is_cancelled ()))

(* The scheduler runs inside a task of another one, and the reverse. *)
let () =
  let sum = Promise.create () in
  Concord_fifo.run (fun () ->
      ignore (Concord_fifo.fork (fun () -> Promise.fill sum 3));
      Ring.run (fun () -> say "in a task of Fifo: %d" (Promise.await sum)));
  Ring.run (fun () ->
      Concord_fifo.run (fun () ->
          Concord_fifo.yield ();
          say "Fifo in a task"))
