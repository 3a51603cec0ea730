(* Time limits of Lwt around operations of Concord. The limit often comes when another task has
   just given the operation what it waits for. Nothing may be lost, and no lock leaked. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run
let random = Race.random 0
let soon () = Random.State.float random 5e-4

let limited f =
  Lwt.catch
    (fun () -> Lwt.map Option.some (Lwt_unix.with_timeout (1e-4 +. soon ()) f))
    (function Lwt_unix.Timeout -> Lwt.return_none | e -> Lwt.fail e)

(* As [limited], but by [Lwt.pick]. *)
let picked f =
  Lwt.pick
    [
      Lwt.map Option.some (f ());
      Lwt.map (fun () -> None) (Lwt_unix.sleep (1e-4 +. soon ()));
    ]

(* As [limited], but the promise is cancelled. *)
let cancelled f =
  let p = f () in
  let timer = Lwt.map (fun () -> Lwt.cancel p) (Lwt_unix.sleep (soon ())) in
  Lwt.try_bind
    (fun () -> p)
    (fun v ->
      Lwt.cancel timer;
      Lwt.return_some v)
    (function Lwt.Canceled -> Lwt.return_none | e -> Lwt.fail e)

let limits =
  [ ("with_timeout", limited); ("pick", picked); ("cancel", cancelled) ]

(* --- Items ---------------------------------------------------------------------- *)

let n = Race.often 150

type queue = {
  put : int -> unit;  (** In direct style. *)
  take : unit -> int Lwt.t;
}

let by_event event = fun () -> Concord_lwt.sync (event ())

(* Each way of taking, from a new queue. *)
let queues =
  let mvar take () =
    let t = Mvar.create_empty () in
    { put = Mvar.put t; take = take t }
  and stream capacity take () =
    let t = Stream.create capacity in
    { put = Stream.add t; take = take t }
  in
  [
    ("Mvar.take", mvar (fun t () -> Concord_lwt.Mvar.take t));
    ("Mvar, sync", mvar (fun t -> by_event (fun () -> Mvar.take_evt t)));
    ( "Mvar, wrap",
      mvar (fun t ->
          by_event (fun () -> Event.wrap (Mvar.take_evt t) (fun v -> v))) );
    ( "Mvar, select",
      mvar (fun t () -> Concord_lwt.select [ Mvar.take_evt t; Event.never ]) );
    ( "Mvar, loop",
      mvar (fun t () ->
          Concord_lwt.loop [ Mvar.take_evt t ] (fun v -> Lwt.return_some v)) );
    ( "Mvar, direct",
      mvar (fun t () -> Concord_lwt.direct (fun () -> Mvar.take t)) );
    ( "Mvar, select in direct",
      mvar (fun t () ->
          Concord_lwt.direct (fun () ->
              Event.select [ Mvar.take_evt t; Event.never ])) );
    ("Stream 1", stream 1 (fun t () -> Concord_lwt.Stream.take t));
    ("Stream 4", stream 4 (fun t () -> Concord_lwt.Stream.take t));
    ("Stream 100", stream 100 (fun t () -> Concord_lwt.Stream.take t));
    ( "Stream.next",
      stream 4 (fun t () -> Lwt.map Option.get (Concord_lwt.Stream.next t)) );
    ( "Stream, direct",
      stream 4 (fun t () -> Concord_lwt.direct (fun () -> Stream.take t)) );
    ( "Mailbox",
      fun () ->
        let t = Mailbox.create () in
        { put = Mailbox.add t; take = (fun () -> Concord_lwt.Mailbox.take t) }
    );
    ( "Channel",
      fun () ->
        let t = Channel.create () in
        {
          put = Channel.send t;
          take = (fun () -> Concord_lwt.Channel.receive t);
        } );
    ( "Work_queue",
      fun () ->
        let t = Work_queue.create 4 in
        {
          put = (fun i -> ignore (Work_queue.add t i : int Work_queue.ticket));
          take = (fun () -> Concord_lwt.Work_queue.take t);
        } );
    ( "Broadcast",
      fun () ->
        let t = Broadcast.create ~limit:(Wait 4) () in
        let s = Broadcast.subscribe t in
        {
          put = Broadcast.send t;
          take = (fun () -> Concord_lwt.Broadcast.receive s);
        } );
  ]

let produce put pause () =
  for i = 1 to n do
    put i;
    if i land 3 = 0 then pause ()
  done

(* The consumer gets all items, each once and in order. *)
let consume limit queue produce_in () =
  run @@ fun () ->
  let { put; take } = queue () in
  let rec consume i =
    if i > n then Lwt.return_unit
    else
      let* v = limit take in
      match v with
      | None -> consume i
      | Some v ->
          int "the next item" i v;
          consume (i + 1)
  in
  Lwt.join [ consume 1; produce_in put ]

let here put = Concord_lwt.direct (produce put (fun () -> Tasks.sleep 1e-4))

let there put =
  Concord_lwt.Promise.await
    (Promise.in_domain (produce put (fun () -> Unix.sleepf 1e-4)))

let items (place, produce_in) (limit_name, limit) =
  ( Printf.sprintf "items, %s, from %s" limit_name place,
    List.map
      (fun (name, queue) -> test name (consume limit queue produce_in))
      queues )

(* --- Locks ---------------------------------------------------------------------- *)

type lock = { lock : unit -> unit Lwt.t; unlock : unit -> unit }

let locks =
  let mutex lock () =
    let t = Mutex.create () in
    { lock = lock t; unlock = (fun () -> Mutex.unlock t) }
  in
  [
    ("Mutex.lock", mutex (fun t () -> Concord_lwt.Mutex.lock t));
    ( "Mutex, select",
      mutex (fun t () -> Concord_lwt.select [ Mutex.lock_evt t; Event.never ])
    );
    ( "Mutex, direct",
      mutex (fun t () -> Concord_lwt.direct (fun () -> Mutex.lock t)) );
    ( "Semaphore.acquire",
      fun () ->
        let t = Semaphore.Counting.make 1 in
        {
          lock = (fun () -> Concord_lwt.Semaphore.Counting.acquire t);
          unlock = (fun () -> Semaphore.Counting.release t);
        } );
    ( "Semaphore.acquire_n",
      fun () ->
        let t = Semaphore.Counting.make 3 in
        {
          lock = (fun () -> Concord_lwt.Semaphore.Counting.acquire_n t 3);
          unlock = (fun () -> Semaphore.Counting.release_n t 3);
        } );
    ( "Rwlock.write_lock",
      fun () ->
        let t = Rwlock.create () in
        {
          lock = (fun () -> Concord_lwt.Rwlock.write_lock t);
          unlock = (fun () -> Rwlock.write_unlock t);
        } );
  ]

(* Each task locks some times, and the lock is free at the end. *)
let lock_often limit make () =
  run @@ fun () ->
  let { lock; unlock } = make () in
  let is_held = ref false in
  let rec task i =
    if i = 0 then Lwt.return_unit
    else
      let* locked = limit lock in
      match locked with
      | None -> task i
      | Some () ->
          no "held by another task" !is_held;
          is_held := true;
          let* () = Lwt_unix.sleep (soon ()) in
          is_held := false;
          unlock ();
          task (i - 1)
  in
  let times = n / 10 in
  let* () = Lwt.join [ task times; task times; task times ] in
  let+ () = lock () in
  unlock ()

let locked (limit_name, limit) =
  ( "locks, " ^ limit_name,
    List.map (fun (name, make) -> test name (lock_often limit make)) locks )

(* --- Loops that are cancelled -------------------------------------------------------- *)

(* The operation is cancelled just after it was performed. The loop around it must end. *)
let loop_ends (name, step) =
  test name @@ fun () ->
  run @@ fun () ->
  let t = Mvar.create_empty () in
  let ends = ref true in
  let rec round i =
    if i = 0 then Lwt.return_unit
    else begin
      (* full, so that [put] waits *)
      ignore (Mvar.try_put t 0 : bool);
      let rec loop () = Lwt.bind (step t) loop in
      let p = loop () in
      ignore (Mvar.try_take t : int option);
      Lwt.cancel p;
      if Lwt.is_sleeping p then ends := false;
      ignore (Mvar.try_take t : int option);
      round (i - 1)
    end
  in
  let+ () = round 100 in
  yes "each loop has ended" !ends

let loops =
  ( "a loop that is cancelled",
    List.map loop_ends
      [
        ("Mvar.put", fun t -> Concord_lwt.Mvar.put t 1);
        ( "Mvar.put, direct",
          fun t -> Concord_lwt.direct (fun () -> Mvar.put t 1) );
        ( "Mvar.put, select",
          fun t -> Concord_lwt.select [ Mvar.put_evt t 1; Event.never ] );
      ] )

(* --- Code without an operation ---------------------------------------------------------- *)

(* A wait of the program's own has no operation that could be undone, so the task keeps its
   value (H3). The next wait raises. *)
let own_wait () =
  run @@ fun () ->
  let resume = ref (fun _ -> false) and got = ref 0 in
  let p =
    Concord_lwt.direct (fun () ->
        got :=
          Tools.Suspend.suspend (fun resumer ->
              resume := resumer;
              None);
        Promise.await (Promise.create ()))
  in
  yes "resumed" (!resume (Ok 5));
  Lwt.cancel p;
  int "its value" 5 !got;
  yes "cancelled" (Lwt.state p = Fail Lwt.Canceled);
  Lwt.return_unit

let () =
  Check.run "Concord_lwt, time limits"
    (List.concat_map
       (fun place -> List.map (items place) limits)
       [ ("here", here); ("there", there) ]
    @ List.map locked limits
    @ [ loops; ("H3", [ test "the program's own wait" own_wait ]) ])
