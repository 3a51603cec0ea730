(* Tasks of any host use structures that live longer than the tasks. They wait and are
   served, choose another alternative, are cancelled, fail, or time out. *)

open Concord

exception Refused

let n = 4

(* These are never served, so every waiter here has to withdraw. *)
let never : unit Promise.t = Promise.create ()
let idle : int Mvar.t = Mvar.create_empty ()
let closed = Semaphore.Counting.make 0
let changed = Condition.create ()

(* These are shared by all tasks. *)
let box = Mvar.create_empty ()
let stream = Stream.create 3
let meeting = Channel.create ()
let mutex = Mutex.create ()
let rwlock = Rwlock.create ()

let times f =
  for i = 1 to n do
    f i
  done

let beside f g =
  let (), () = Tasks.both f g in
  ()

let served () =
  beside
    (fun () -> times (Mvar.put box))
    (fun () -> times (fun i -> assert (Mvar.take box = i)));
  beside
    (fun () -> times (Stream.add stream))
    (fun () -> times (fun i -> assert (Stream.take stream = i)));
  beside
    (fun () -> times (Channel.send meeting))
    (fun () -> times (fun i -> assert (Channel.receive meeting = i)));
  let work () =
    times (fun _ ->
        Mutex.protect mutex Tasks.yield;
        Rwlock.write rwlock Tasks.yield;
        Rwlock.read rwlock Tasks.yield)
  in
  beside work work

(* Waits in all four at once. *)
let wait_for_nothing () =
  Event.select
    [
      Promise.await_evt never;
      Event.wrap (Mvar.take_evt idle) ignore;
      Semaphore.Counting.acquire_evt closed;
      Condition.wait_no_mutex_evt changed;
    ]

let chosen_otherwise () =
  times (fun i ->
      let p = Promise.create () in
      let wait () =
        Event.select
          [ Promise.await_evt never; Event.timeout 1000.; Promise.await_evt p ]
      in
      beside wait (fun () ->
          if i land 1 = 0 then Tasks.yield ();
          Promise.fill p ()))

(* Several tasks wait at once, so that there is a queue. *)
let crowd f = ignore (Tasks.all [ f; f; f ] : unit list)

let cancelled () =
  times (fun _ ->
      let leave f = Tasks.first (fun () -> crowd f) Tasks.yield in
      leave wait_for_nothing;
      leave (fun () -> Promise.await never);
      leave (fun () -> ignore (Mvar.take idle : int));
      leave (fun () -> Semaphore.Counting.acquire closed);
      leave (fun () -> Condition.wait_no_mutex changed))

let failed () =
  times (fun _ ->
      match
        beside wait_for_nothing (fun () ->
            Tasks.yield ();
            raise Refused)
      with
      | () -> assert false (* [f] always raises *)
      | exception Refused -> ())

let impatient () =
  assert (Event.sync_before 0.000_1 (Mvar.take_evt idle) = None);
  assert (Tasks.with_timeout 0.000_1 wait_for_nothing = None)

let run () =
  served ();
  chosen_otherwise ();
  cancelled ();
  failed ();
  impatient ()

let nobody_waits () =
  Promise.waiters never = 0
  && Mvar.waiters idle = 0
  && Semaphore.Counting.waiters closed = 0
  && Condition.waiters changed = 0
