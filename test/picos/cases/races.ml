(* Each waiting fiber is both resumed, from another domain, and cancelled. In both cases the
   value must be in exactly one place. *)

open Concord
open Concord_test_support.Check
open Schedulers

type one = {
  wait : unit -> unit;
  waiters : unit -> int;
  wake : unit -> unit;
  is_right : returned:bool -> bool;  (** Called at rest. *)
}

(* Either [take] returns 1, or [left] finds it. *)
let taking ~take ~waiters ~wake ~left =
  let got = ref None in
  {
    wait = (fun () -> got := Some (take ()));
    waiters;
    wake;
    is_right =
      (fun ~returned ->
        if returned then !got = Some 1 && left () = None
        else !got = None && left () = Some 1);
  }

let mvar_take () =
  let t = Mvar.create_empty () in
  taking
    ~take:(fun () -> Mvar.take t)
    ~waiters:(fun () -> Mvar.waiters t)
    ~wake:(fun () -> Mvar.put t 1)
    ~left:(fun () -> Mvar.try_take t)

let mvar_put () =
  let t = Mvar.create 0 in
  {
    wait = (fun () -> Mvar.put t 1);
    waiters = (fun () -> Mvar.waiters t);
    wake = (fun () -> ignore (Mvar.try_take t : int option));
    is_right =
      (fun ~returned -> Mvar.try_take t = if returned then Some 1 else None);
  }

let stream () =
  let t = Stream.create 1 in
  taking
    ~take:(fun () -> Stream.take t)
    ~waiters:(fun () -> Stream.waiters t)
    ~wake:(fun () -> Stream.add t 1)
    ~left:(fun () -> Stream.take_nonblocking t)

let mailbox () =
  let t = Mailbox.create () in
  taking
    ~take:(fun () -> Mailbox.take t)
    ~waiters:(fun () -> Mailbox.waiters t)
    ~wake:(fun () -> Mailbox.add t 1)
    ~left:(fun () -> Mailbox.try_take t)

let channel () =
  let t = Channel.create () and sent = ref false and received = ref 0 in
  {
    wait = (fun () -> received := Channel.receive t);
    waiters = (fun () -> Channel.waiters t);
    wake = (fun () -> sent := Channel.try_send t 1);
    is_right =
      (fun ~returned ->
        returned = !sent && !received = if returned then 1 else 0);
  }

let mutex () =
  let t = Mutex.create () in
  yes "locked" (Mutex.try_lock t);
  {
    wait = (fun () -> Mutex.lock t);
    waiters = (fun () -> Mutex.waiters t);
    wake = (fun () -> Mutex.unlock t);
    is_right = (fun ~returned -> Mutex.is_locked t = returned);
  }

let semaphore () =
  let t = Semaphore.Counting.make 0 in
  {
    wait = (fun () -> Semaphore.Counting.acquire t);
    waiters = (fun () -> Semaphore.Counting.waiters t);
    wake = (fun () -> Semaphore.Counting.release t);
    is_right =
      (fun ~returned ->
        Semaphore.Counting.get_value t = if returned then 0 else 1);
  }

(* One of two. The other one is not taken. *)
let choice () =
  let a = Mvar.create_empty () and b = Mvar.create_empty () in
  let got = ref 0 in
  {
    wait = (fun () -> got := Event.select [ Mvar.take_evt a; Mvar.take_evt b ]);
    waiters = (fun () -> Mvar.waiters a);
    wake =
      (fun () ->
        Mvar.put a 1;
        Mvar.put b 2);
    is_right =
      (fun ~returned ->
        let left = (Mvar.try_take a, Mvar.try_take b) in
        match !got with
        | 0 -> (not returned) && left = (Some 1, Some 2)
        | 1 -> returned && left = (None, Some 2)
        | 2 -> returned && left = (Some 1, None)
        | _ -> false);
  }

let race (s : Schedulers.t) n make () =
  s.run @@ fun () ->
  let all = Array.init n (fun _ -> make ()) in
  let ended = Latch.create n and returned = Array.make n false in
  let start i one =
    spawn (fun () ->
        Fun.protect
          ~finally:(fun () -> Latch.count_down ended)
          (fun () ->
            one.wait ();
            returned.(i) <- true))
  in
  let cancels = Array.mapi start all in
  Array.iter
    (fun one ->
      eventually ~pause:Picos.Fiber.yield "it waits" (fun () ->
          one.waiters () = 1))
    all;
  let ready = Atomic.make false in
  let waker =
    domain (fun () ->
        Atomic.set ready true;
        Array.iter (fun one -> one.wake ()) all)
  in
  while not (Atomic.get ready) do
    Domain.cpu_relax ()
  done;
  Array.iter (fun cancel -> cancel ()) cancels;
  waker ();
  Latch.await ended;
  Array.iteri
    (fun i one ->
      int "no task waits" 0 (one.waiters ());
      yes "it is in one place" (one.is_right ~returned:returned.(i)))
    all

let on ?(n = 500) (s : Schedulers.t) =
  let test name make = test name (race s n make) in
  ( "cancelled and resumed: " ^ s.name,
    [
      test "Mvar.take" mvar_take;
      test "Mvar.put" mvar_put;
      test "Stream.take" stream;
      test "Mailbox.take" mailbox;
      test "Channel.receive" channel;
      test "Mutex.lock" mutex;
      test "Semaphore.acquire" semaphore;
      test "Event.select" choice;
    ] )

let in_eio =
  {
    name = "as_fiber in Eio";
    run = (fun f -> Eio_main.run (fun _ -> Concord_picos.as_fiber f));
  }

let suites =
  List.map on [ fifo; random; randoms; multififo; registered fifo; in_eio ]
  @ [ on ~n:100 thread ]
