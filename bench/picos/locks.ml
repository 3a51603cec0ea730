open Concord_bench
open Case
open Picos_std_structured
open Picos_std_sync
open Host_picos

(* Each case has loops of its own, as in the modules of the other implementations. *)

(* --- Mutexes -------------------------------------------------------------- *)

let lock_unlock mutex n =
  for _ = 1 to n do
    Mutex.lock mutex;
    Mutex.unlock mutex
  done

let mutex_free n = Host.alone host (lock_unlock (Mutex.create ())) n

let mutex_parallel n =
  let mutex = Mutex.create () in
  let lock mutex = Mutex.lock mutex and unlock mutex = Mutex.unlock mutex in
  Bench_mutex.working host (Bench_mutex.side lock unlock mutex) n

let mutex_contended ~tasks n =
  let mutex = Mutex.create () in
  let rec work another =
    Mutex.lock mutex;
    let again = another () in
    if again then Control.yield ();
    Mutex.unlock mutex;
    if again then work another
  in
  let hold () = Mutex.lock mutex and free () = Mutex.unlock mutex in
  Host.crew host ~tasks ~hold ~free work n

(* --- Semaphores ----------------------------------------------------------- *)

let acquire_release semaphore n =
  for _ = 1 to n do
    Semaphore.Counting.acquire semaphore;
    Semaphore.Counting.release semaphore
  done

let semaphore_free n =
  Host.alone host (acquire_release (Semaphore.Counting.make 1)) n

let semaphore_contended n =
  let semaphore = Semaphore.Counting.make Bench_semaphore.permits in
  let rec work another =
    Semaphore.Counting.acquire semaphore;
    let again = another () in
    if again then Control.yield ();
    Semaphore.Counting.release semaphore;
    if again then work another
  in
  Host.crew host ~tasks:Bench_semaphore.tasks ~hold:ignore ~free:ignore work n

(* --- Conditions ----------------------------------------------------------- *)

let empty = 0

let produce (mutex, condition, slot) n =
  for i = 1 to n do
    Mutex.lock mutex;
    while !slot <> empty do
      Condition.wait condition mutex
    done;
    slot := i;
    Condition.signal condition;
    Mutex.unlock mutex
  done

let consume (mutex, condition, slot) n =
  let sum = ref 0 in
  for _ = 1 to n do
    Mutex.lock mutex;
    while !slot = empty do
      Condition.wait condition mutex
    done;
    sum := !sum + !slot;
    slot := empty;
    Condition.signal condition;
    Mutex.unlock mutex
  done;
  !sum

let condition (shape : Host.shape) n =
  let t = (Mutex.create (), Condition.create (), ref empty) in
  shape ~produce:(produce t) ~consume:(consume t) n

(* --- Barriers, made of a mutex and a condition ------------------------------ *)

let barrier_parallel n =
  let mutex = Mutex.create () and condition = Condition.create () in
  let missing = ref Bench_barrier.sides and round = ref 0 in
  let await () =
    Mutex.lock mutex;
    decr missing;
    (if !missing = 0 then (
       missing := Bench_barrier.sides;
       incr round;
       Condition.broadcast condition)
     else
       let mine = !round in
       while !round = mine do
         Condition.wait condition mutex
       done);
    Mutex.unlock mutex
  in
  Host.both host (Bench_barrier.pass await) n

(* --- Cancelling ------------------------------------------------------------- *)

let cancelled =
  Bench_cancel.in_crowd host (fun _ f ->
      let task = Flock.fork_as_promise f in
      (* Lets the task begin and wait. *)
      Control.yield ();
      Promise.terminate task;
      match Promise.await task with
      | () -> failwith "a task was not cancelled"
      | exception Control.Terminate -> ())

let waiting_for_mutex () =
  let mutex = Mutex.create () in
  let lock () = Mutex.lock mutex and unlock () = Mutex.unlock mutex in
  let wait () =
    lock ();
    unlock ()
  in
  { Bench_cancel.hold = lock; wait; until_cancelled = lock; wake = unlock }

let waiting_for_ivar () =
  let ivar = Ivar.create () in
  let read () = Ivar.read ivar and wake () = Ivar.fill ivar () in
  { Bench_cancel.hold = ignore; wait = read; until_cancelled = read; wake }

let cancelling name wait tasks =
  picos
    (Printf.sprintf "%s-cancel-%d" name tasks)
    (Crowd (tasks, fun ~tasks n -> cancelled (wait ()) ~tasks n))

let rows =
  List.map (cancelling "mutex" waiting_for_mutex) Bench_cancel.mutexes
  @ List.map (cancelling "promise" waiting_for_ivar) Bench_cancel.promises
  @ [
      picos "mutex-free" (Time mutex_free);
      picos "mutex-contended" (Crowd (10, mutex_contended));
      picos "mutex-contended-100000" (Crowd (100_000, mutex_contended));
      picos "mutex-work-parallel" (Time mutex_parallel);
      picos "semaphore-free" (Time semaphore_free);
      picos "semaphore-contended" (Time semaphore_contended);
      picos "condition-signal" (Time (condition (Host.serial host)));
      picos "barrier-parallel" (Time barrier_parallel);
      picos "condition-parallel" (Time (condition (Host.parallel host)));
    ]
