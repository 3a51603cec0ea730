(* [Lwt.cancel]: it withdraws, and loses nothing. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let run = Concord_lwt.run
let is_cancelled p = Lwt.state p = Lwt.Fail Lwt.Canceled

(* Lets all others go on. *)
let turns n = Lwt_list.iter_s Lwt.pause (List.init n ignore)

(* Cancelled, in a while. *)
let is_unwound what p =
  let* () = turns 5 in
  yes what (is_cancelled p);
  Lwt.return_unit

(* --- Each operation ------------------------------------------------------- *)

let each_case f =
  run @@ fun () ->
  (* Each in a turn of its own: in a long one an operation is not begun at once. *)
  let each (name, make) =
    Lwt.bind (Lwt.pause ()) (fun () -> f name (make ()))
  in
  Lwt_list.iter_s each Cases.monadic

let withdrawn () =
  each_case @@ fun name { Cases.wait; waiters; wake; kept; _ } ->
  let p = wait () in
  int (name ^ ": one waits") 1 (waiters ());
  Lwt.cancel p;
  int (name ^ ": withdrawn") 0 (waiters ());
  yes (name ^ ": cancelled") (is_cancelled p);
  wake ();
  yes (name ^ ": nothing is lost") (kept ());
  Lwt.return_unit

(* Who waits behind it has its turn. *)
let next_in_turn () =
  each_case @@ fun name { Cases.wait; waiters; wake; _ } ->
  match name with
  | _ when String.starts_with ~prefix:"Barrier.await" name -> Lwt.return_unit
  | "Condition.wait" | "Lazy.force, computing" | "Lazy.force_val, computing" ->
      (* two of them do not wait for the same *) Lwt.return_unit
  | _ ->
      let first = wait () in
      let second = wait () in
      Lwt.cancel first;
      yes (name ^ ": cancelled") (is_cancelled first);
      int (name ^ ": one is left") 1 (waiters ());
      wake ();
      let+ ok = second in
      yes (name ^ ": the other has its value") ok

(* Resumed, and cancelled before the loop has seen it: it has its value. *)
let resumed_before () =
  each_case @@ fun name { Cases.wait; wake; waiters; kept; _ } ->
  let p = wait () in
  wake ();
  Lwt.cancel p;
  int (name ^ ": nobody waits") 0 (waiters ());
  match name with
  | "Condition.wait" | "Condition.wait, signal" | "Condition.wait, broadcast" ->
      yes (name ^ ": cancelled") (is_cancelled p);
      yes (name ^ ": it has the mutex") (kept ());
      Lwt.return_unit
  | _ ->
      let+ ok = p in
      yes (name ^ ": it has its value") ok

(* A promise of Lwt's that depends on the wait. *)
let through_lwt () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let take () = Concord_lwt.Mvar.take box in
  let first = Lwt.pick [ take (); Lwt.pause () |> Lwt.map (fun () -> 0) ] in
  let* v = first in
  int "the other" 0 v;
  int "withdrawn" 0 (Mvar.waiters box);
  let p =
    let* v = take () in
    Lwt.return (v + 1)
  in
  Lwt.cancel p;
  yes "bind" (is_cancelled p);
  int "withdrawn" 0 (Mvar.waiters box);
  let p = Lwt.protected (take ()) in
  Lwt.cancel p;
  int "not if it is protected" 1 (Mvar.waiters box);
  Mvar.put box 1;
  yes "taken" (Mvar.is_empty box);
  let p = Lwt.with_value (Lwt.new_key ()) (Some 1) take in
  let* () =
    Lwt.catch
      (fun () -> Lwt_unix.with_timeout 0.001 (fun () -> Lwt.map ignore p))
      (function Lwt_unix.Timeout -> Lwt.return_unit | e -> Lwt.fail e)
  in
  int "with_timeout" 0 (Mvar.waiters box);
  Lwt.return_unit

(* --- What is held --------------------------------------------------------- *)

(* The wait for a signal ends; the one for the mutex cannot be cancelled. *)
let condition () =
  run @@ fun () ->
  let m = Mutex.create () and c = Condition.create () in
  let has_it = ref false in
  let p =
    Concord_lwt.Mutex.with_lock m @@ fun () ->
    Lwt.finalize
      (fun () -> Concord_lwt.Condition.wait c m)
      (fun () ->
        has_it := Mutex.is_locked m;
        Lwt.return_unit)
  in
  (* Somebody else has the mutex when it is cancelled. *)
  yes "it gave the mutex away" (Mutex.try_lock m);
  Lwt.cancel p;
  int "no signal awaited" 0 (Condition.waiters c);
  int "but the mutex" 1 (Mutex.waiters m);
  Lwt.cancel p;
  int "it stays" 1 (Mutex.waiters m);
  yes "it is not at its end" (Lwt.state p = Lwt.Sleep);
  Mutex.unlock m;
  let* () =
    Lwt.catch
      (fun () -> p)
      (function Lwt.Canceled -> Lwt.return_unit | e -> Lwt.fail e)
  in
  yes "it had the mutex" !has_it;
  no "and released it" (Mutex.is_locked m);
  Lwt.return_unit

let locks () =
  run @@ fun () ->
  let m = Mutex.create () in
  Mutex.lock m;
  let called = ref false in
  let p =
    Concord_lwt.Mutex.with_lock m (fun () ->
        called := true;
        Lwt.return_unit)
  in
  Lwt.cancel p;
  Mutex.unlock m;
  no "not called" !called;
  no "not locked" (Mutex.is_locked m);
  let p =
    Concord_lwt.Mutex.with_lock m (fun () ->
        Concord_lwt.direct (fun () -> Promise.await (Promise.create ())))
  in
  yes "locked" (Mutex.is_locked m);
  Lwt.cancel p;
  yes "cancelled" (is_cancelled p);
  no "released" (Mutex.is_locked m);
  Lwt.return_unit

(* The code in [direct] sees the exception where it waits. *)
let direct () =
  traced [ "waits"; "cancelled"; "finally" ] @@ fun say ->
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let p =
    Concord_lwt.direct @@ fun () ->
    Fun.protect ~finally:(fun () -> say "finally") @@ fun () ->
    say "waits";
    try Mvar.take box
    with Lwt.Canceled as e ->
      say "cancelled";
      raise e
  in
  Lwt.cancel p;
  yes "cancelled" (is_cancelled p);
  int "withdrawn" 0 (Mvar.waiters box);
  Lwt.return_unit

(* As in other hosts, where a cancelled task can wait in [Suspend.protect] only. *)
let for_good () =
  run @@ fun () ->
  let box = Mvar.create_empty () and p = Promise.create () in
  let again = ref false and told = ref false in
  let code () =
    (try Promise.await p
     with Lwt.Canceled -> told := not (Suspend.is_cancelled ()));
    try Mvar.take box
    with Lwt.Canceled ->
      again := Suspend.is_cancelled ();
      Suspend.protect (fun () -> Mvar.take box)
  in
  let task = Concord_lwt.direct code in
  (* It is told the exception, and not cancelled. *)
  Promise.fail p Lwt.Canceled;
  let* () = Lwt.pause () in
  let* () = Lwt.pause () in
  int "it goes on waiting" 1 (Mvar.waiters box);
  yes "not cancelled" !told;
  Lwt.cancel task;
  yes "cancelled" !again;
  int "protected" 1 (Mvar.waiters box);
  Mvar.put box ();
  task

(* What comes under [protect] arrives where the task waits next. *)
let protected () =
  run @@ fun () ->
  let first = Mvar.create_empty () and second = Mvar.create_empty () in
  let told = ref false in
  let p =
    Concord_lwt.direct (fun () ->
        let one = Suspend.protect (fun () -> Mvar.take first) in
        told := Suspend.is_cancelled ();
        one + Mvar.take second)
  in
  Lwt.cancel p;
  int "it waits" 1 (Mvar.waiters first);
  Lwt.cancel p;
  int "it waits on" 1 (Mvar.waiters first);
  Mvar.put first 1;
  let* () = is_unwound "cancelled" p in
  yes "it was told" !told;
  int "it does not wait again" 0 (Mvar.waiters second);
  Lwt.return_unit

(* Also if its wait was protected from an exception, and over several of them. *)
let protected_on () =
  run @@ fun () ->
  let boxes = List.init 3 (fun _ -> Mvar.create_empty ()) in
  let cleaned = ref 0 in
  let p =
    Concord_lwt.direct (fun () ->
        Suspend.protect (fun () ->
            List.iter
              (fun box ->
                Mvar.take box;
                incr cleaned)
              boxes);
        Mvar.take (Mvar.create_empty ()))
  in
  let* () =
    Lwt_list.iter_s
      (fun box ->
        int "it waits" 1 (Mvar.waiters box);
        Lwt.cancel p;
        Mvar.put box ();
        turns 2)
      boxes
  in
  let* () = is_unwound "cancelled" p in
  int "all was cleaned" 3 !cleaned;
  Lwt.return_unit

(* Code that does not wait any more returns. *)
let protected_last () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let p =
    Concord_lwt.direct (fun () -> Suspend.protect (fun () -> Mvar.take box))
  in
  Lwt.cancel p;
  Mvar.put box 1;
  let+ v = p in
  int "its value" 1 v

(* Resumed, and then cancelled: it has its value (H3), and the next wait raises. *)
let between () =
  run @@ fun () ->
  let first = Mvar.create_empty () and second = Mvar.create_empty () in
  let got = ref 0 in
  let task wait_again =
    Concord_lwt.direct (fun () ->
        got := Mvar.take first;
        wait_again ();
        ())
  in
  let cancelled what p =
    Mvar.put first 7;
    Lwt.cancel p;
    let* () = is_unwound what p in
    int (what ^ ": its value") 7 !got;
    int (what ^ ": it does not wait again") 0 (Mvar.waiters second);
    Lwt.return_unit
  in
  let* () = cancelled "direct" (task (fun () -> Mvar.take second)) in
  let* () =
    cancelled "wrap"
      (Concord_lwt.sync
         (Event.wrap (Mvar.take_evt first) (fun v ->
              got := v;
              Mvar.take second)))
  in
  int "nobody waits" 0 (Mvar.waiters first);
  Lwt.return_unit

(* --- Zombies -------------------------------------------------------------- *)

(* A queue in the usual way. *)
type queue = { mutex : Mutex.t; filled : Condition.t; items : int Queue.t }

let queue () =
  {
    mutex = Mutex.create ();
    filled = Condition.create ();
    items = Queue.create ();
  }

let add q v =
  Mutex.protect q.mutex (fun () ->
      Queue.push v q.items;
      Condition.signal q.filled)

let take q =
  Concord_lwt.Mutex.with_lock q.mutex @@ fun () ->
  let rec wait () =
    match Queue.take_opt q.items with
    | Some v -> Lwt.return v
    | None ->
        let* () = Concord_lwt.Condition.wait q.filled q.mutex in
        wait ()
  in
  wait ()

(* Signalled, it waits for the mutex when it is cancelled: the next one has the signal,
   and it does not take the item. *)
let signalled () =
  run @@ fun () ->
  let q = queue () in
  let first = take q in
  let second = take q in
  int "both wait" 2 (Condition.waiters q.filled);
  let* () = Concord_lwt.Mutex.lock q.mutex in
  Queue.push 1 q.items;
  Condition.signal q.filled;
  let* () = turns 3 in
  int "it was signalled, and waits for the mutex" 1 (Mutex.waiters q.mutex);
  Lwt.cancel first;
  Lwt.cancel first;
  yes "it must have the mutex" (Lwt.state first = Lwt.Sleep);
  Mutex.unlock q.mutex;
  let* v = second in
  int "the item" 1 v;
  yes "cancelled" (is_cancelled first);
  int "nobody waits" 0 (Condition.waiters q.filled + Mutex.waiters q.mutex);
  no "unlocked" (Mutex.is_locked q.mutex);
  Lwt.return_unit

(* The same before the loop has seen the signal. *)
let signalled_just_now () =
  run @@ fun () ->
  let q = queue () in
  let first = take q in
  let second = take q in
  (* No item: it would wait again. *)
  Condition.signal q.filled;
  Lwt.cancel first;
  yes "cancelled" (is_cancelled first);
  add q 1;
  let* v = second in
  int "the item" 1 v;
  no "unlocked" (Mutex.is_locked q.mutex);
  Lwt.return_unit

(* Nobody else waits: the signal is as if it had come to nobody. *)
let signalled_alone () =
  run @@ fun () ->
  let q = queue () in
  let first = take q in
  Condition.broadcast q.filled;
  Lwt.cancel first;
  yes "cancelled" (is_cancelled first);
  let second = take q in
  let* () = turns 3 in
  yes "no signal is left" (Lwt.state second = Lwt.Sleep);
  add q 1;
  let+ v = second in
  int "the item" 1 v

(* The lock was given when it is cancelled: its function is cancelled where it waits. *)
let locked_just_now () =
  run @@ fun () ->
  let box = Mvar.create_empty () in
  let each (name, lock, try_lock, unlock) =
    yes (name ^ ": locked") (try_lock ());
    let called = ref false in
    let p =
      lock (fun () ->
          called := true;
          Concord_lwt.Mvar.take box)
    in
    unlock ();
    Lwt.cancel p;
    yes (name ^ ": called") !called;
    yes (name ^ ": cancelled") (is_cancelled p);
    int (name ^ ": it does not wait") 0 (Mvar.waiters box);
    yes (name ^ ": unlocked") (try_lock ())
  in
  let m = Mutex.create () and l = Rwlock.create () in
  each
    ( "with_lock",
      Concord_lwt.Mutex.with_lock m,
      (fun () -> Mutex.try_lock m),
      fun () -> Mutex.unlock m );
  each
    ( "write",
      Concord_lwt.Rwlock.write l,
      (fun () -> Rwlock.try_write_lock l),
      fun () -> Rwlock.write_unlock l );
  Rwlock.write_unlock l;
  Lwt.return_unit

(* What a domain adds is taken, each item once, though takers are cancelled at any
   moment. One that is cancelled has its item at once, or never. *)
let never_a_zombie () =
  let n = 2_000 in
  let q = queue () in
  let taken = Array.make n 0 and left = ref n in
  let cancelled = ref 0 and zombies = ref 0 in
  let random = Random.State.make [| 5 |] in
  (* It keeps the mutex after the signal; and lets somebody wait now and then. *)
  let add v =
    if v mod 20 = 0 then
      eventually "a taker waits" (fun () -> Condition.waiters q.filled > 0);
    Mutex.protect q.mutex (fun () ->
        Queue.push v q.items;
        Condition.signal q.filled;
        Concord_fifo.yield ())
  in
  let join =
    Check.domain (fun () ->
        Concord_fifo.run (fun () -> Seq.iter add (Seq.take n (Seq.ints 0))))
  in
  let got v =
    taken.(v) <- taken.(v) + 1;
    decr left
  in
  let rec end_of p ~cancel =
    match Lwt.state p with
    | Return v ->
        if cancel then incr zombies;
        got v;
        Lwt.return_unit
    | Fail Lwt.Canceled ->
        incr cancelled;
        Lwt.return_unit
    | Fail e -> Lwt.fail e
    | Sleep ->
        let cancel_now =
          (not cancel) && (!left = 0 || Random.State.int random 8 = 0)
        in
        if cancel_now then Lwt.cancel p;
        (* What it has at once is no zombie's. *)
        if cancel_now && not (Lwt.is_sleeping p) then end_of p ~cancel:false
        else
          let* () = Lwt.pause () in
          end_of p ~cancel:(cancel || cancel_now)
  in
  let rec taker () =
    if !left = 0 then Lwt.return_unit
    else
      let* () = end_of (take q) ~cancel:false in
      taker ()
  in
  run (fun () -> Lwt.join (List.init 8 (fun _ -> taker ())));
  join ();
  int "zombies" 0 !zombies;
  Array.iteri (fun v times -> int (Printf.sprintf "item %d" v) 1 times) taken;
  yes "some were cancelled" (!cancelled > 0)

(* Another one computes it then, on another domain or here. *)
let lazy_restart other () =
  let runs = Atomic.make 0 and never = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        if Atomic.fetch_and_add runs 1 = 0 then Promise.await never else 42)
  in
  run @@ fun () ->
  let first = Concord_lwt.Lazy.force t in
  let second = other t in
  let* () =
    let rec until_it_waits () =
      if Lazy.waiters t = 1 then Lwt.return_unit
      else Lwt.bind (Lwt.pause ()) until_it_waits
    in
    until_it_waits ()
  in
  Lwt.cancel first;
  yes "cancelled" (is_cancelled first);
  let+ v = second in
  int "the value" 42 v;
  int "runs" 2 (Atomic.get runs);
  int "of the first, none" 0 (Promise.waiters never)

let in_lwt t = Concord_lwt.Lazy.force t

let in_a_domain t =
  let p = Promise.create () in
  ignore
    (Domain.spawn (fun () -> Promise.fill p (Lazy.force t)) : unit Domain.t);
  Concord_lwt.to_lwt p

let lazy_waiter () =
  run @@ fun () ->
  let p = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await p) in
  let first = Concord_lwt.Lazy.force t in
  let second = Concord_lwt.Lazy.force t in
  Lwt.cancel second;
  yes "cancelled" (is_cancelled second);
  int "withdrawn" 0 (Lazy.waiters t);
  Promise.fill p 1;
  let+ v = first in
  int "the other's" 1 v

(* --- The race of H3 ------------------------------------------------------- *)

(* Each of [size] tasks is cancelled here while another domain resumes it: its value is
   in one place. *)
let size = 500
let rounds = 40

let race () =
  let cancelled = ref 0 and resumed = ref 0 in
  let round i =
    let boxes = Array.init size (fun _ -> Mvar.create_empty ()) in
    let ps = Array.map Concord_lwt.Mvar.take boxes in
    let go = Atomic.make false in
    let join =
      Check.domain (fun () ->
          while not (Atomic.get go) do
            Domain.cpu_relax ()
          done;
          Array.iteri (fun i box -> Mvar.put box i) boxes)
    in
    Atomic.set go true;
    (* Towards the other one, from a place that changes. *)
    for j = size - 1 downto i * size / rounds do
      Lwt.cancel ps.(j)
    done;
    let check j p =
      let* got =
        Lwt.try_bind
          (fun () -> p)
          (fun v -> Lwt.return (Some v))
          (function Lwt.Canceled -> Lwt.return None | e -> Lwt.fail e)
      in
      Lwt.return (j, got)
    in
    let* got = Lwt.all (List.mapi check (Array.to_list ps)) in
    join ();
    List.iter
      (fun (j, got) ->
        let left = Mvar.take_available boxes.(j) in
        if Mvar.waiters boxes.(j) <> 0 then Alcotest.fail "a waiter stays";
        match (got, left) with
        | Some v, None when v = j -> incr resumed
        | None, Some v when v = j -> incr cancelled
        | _ -> Alcotest.failf "the value of %d is in two places, or none" j)
      got;
    Lwt.return_unit
  in
  run (fun () -> Lwt_list.iter_s round (List.init rounds Fun.id));
  Printf.printf "%d cancelled, %d resumed\n" !cancelled !resumed;
  yes "some were cancelled" (!cancelled > 0);
  yes "some were resumed" (!resumed > 0)

let memory () =
  run @@ fun () ->
  let p : int Promise.t = Promise.create () in
  let before = words p in
  let all = List.init 10_000 (fun _ -> Concord_lwt.Promise.await p) in
  int "all wait" 10_000 (Promise.waiters p);
  List.iter Lwt.cancel all;
  int "none waits" 0 (Promise.waiters p);
  int "words" before (words p);
  Lwt.return_unit

let () =
  Check.run "Concord_lwt, cancellation"
    [
      ( "each operation",
        [
          test "is withdrawn" withdrawn;
          test "leaves the turn to the next" next_in_turn;
          test "has its value if it was resumed before" resumed_before;
        ] );
      ( "what is held",
        [
          test "pick, bind, protected, with_timeout" through_lwt;
          test "Condition.wait has its mutex again" condition;
          test "locks" locks;
          test "direct" direct;
          test "direct: for good" for_good;
          test "Suspend.protect: at the next wait" protected;
          test "Suspend.protect: after all that is protected" protected_on;
          test "Suspend.protect: no wait comes after it" protected_last;
          test "resumed before: at the next wait" between;
          test "a lazy value is computed by the next, of Lwt"
            (lazy_restart in_lwt);
          test "a lazy value is computed by the next, of a domain"
            (lazy_restart in_a_domain);
          test "a waiter of a lazy value" lazy_waiter;
        ] );
      ( "no zombies",
        [
          test "signalled, and waits for the mutex" signalled;
          test "signalled just now" signalled_just_now;
          test "signalled, and nobody else waits" signalled_alone;
          test "locked just now" locked_just_now;
          test "under load" never_a_zombie;
        ] );
      ( "races",
        [
          test "against resuming, from another domain" race;
          test "10,000 cancelled waits leave no memory" memory;
        ] );
    ]
