open Concord_suspend
open Effect.Deep

exception Cancelled

(* --- Waits ------------------------------------------------------------------ *)

(* The [decision] of one wait. A resumer or [cancel] exchanges [Undecided]. It has then decided
   how the task continues (H3), and must post the job to the loop. *)
type 'a decision = Undecided | Decided of ('a, exn) result

type task = {
  mutable cancelled : bool;
  mutable protected : int;
  mutable interrupt : unit -> unit;  (** Cancels the current wait, if there is one. *)
}

type scheduler = {
  lock : Mutex.t;
  not_empty : Condition.t;
  jobs : (unit -> unit) Queue.t;  (** The ready jobs, protected by [lock]. *)
  mutable live : int;
  mutable current : task;
}

let new_task () = { cancelled = false; protected = 0; interrupt = ignore }

(* Any thread may call it. It doesn't wait for long and runs no code of the user (H2). The loop
   waits for the condition under the lock, so no wake-up is lost (H4). *)
let post s job =
  Mutex.protect s.lock (fun () ->
      Queue.add job s.jobs;
      Condition.signal s.not_empty)

let next s =
  Mutex.protect s.lock (fun () ->
      while Queue.is_empty s.jobs do
        Condition.wait s.not_empty s.lock
      done;
      Queue.take s.jobs)

(* --- The handler ------------------------------------------------------------ *)

type _ Effect.t += Fork : (unit -> unit) -> task Effect.t

let finish k = function Ok v -> continue k v | Error e -> discontinue k e
let is_cancelled task = task.cancelled && task.protected = 0

let suspend (type a) s (block : a resumer -> a option)
    (k : (a, unit) continuation) =
  let task = s.current in
  if is_cancelled task then discontinue k Cancelled
  else
    let decision = Atomic.make Undecided in
    let decide outcome =
      Atomic.compare_and_set decision Undecided (Decided outcome)
    in
    let go_on () =
      s.current <- task;
      task.interrupt <- ignore;
      match Atomic.get decision with
      | Decided outcome -> finish k outcome
      | Undecided -> assert false (* the deciding thread posts it afterwards *)
    in
    let resumer outcome =
      decide outcome
      && begin
        post s go_on;
        true
      end
    in
    match block resumer with
    | None ->
        task.interrupt <-
          (fun () ->
            if task.protected = 0 then ignore (resumer (Error Cancelled) : bool))
    | Some v -> if decide (Ok v) then continue k v
    | exception e -> if decide (Error e) then discontinue k e

let rec start s task f =
  s.current <- task;
  match_with f ()
    {
      retc = (fun () -> s.live <- s.live - 1);
      exnc =
        (fun e ->
          s.live <- s.live - 1;
          if e <> Cancelled then raise e);
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Suspend block ->
              Some (fun (k : (a, unit) continuation) -> suspend s block k)
          | Protect ->
              Some
                (fun k ->
                  let task = s.current in
                  task.protected <- task.protected + 1;
                  continue k (fun () -> task.protected <- task.protected - 1))
          | Ask { otherwise; _ } -> Some (fun k -> continue k otherwise)
          | Fork f ->
              Some
                (fun k ->
                  let child = new_task () in
                  s.live <- s.live + 1;
                  post s (fun () -> start s child f);
                  continue k child)
          | _ -> None);
    }

(* --- For users -------------------------------------------------------------- *)

let fork f = Effect.perform (Fork f)

let yield () =
  Effect.perform
    (Suspend
       (fun resumer ->
         ignore (resumer (Ok ()) : bool);
         None))

let cancel task =
  task.cancelled <- true;
  task.interrupt ()

let run f =
  let first = new_task () in
  let s =
    {
      lock = Mutex.create ();
      not_empty = Condition.create ();
      jobs = Queue.create ();
      live = 1;
      current = first;
    }
  in
  post s (fun () -> start s first f);
  while s.live > 0 do
    next s ()
  done
