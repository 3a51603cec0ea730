(* Tasks on two domains choose among random operations of all structures, and are cancelled all
   the time. The tasks that they meet have chosen as well. Of each choice, one alternative is
   performed, or none if the choice was cancelled, and the others are aborted. Each sent value
   was received once or still exists. At rest no task waits, and everything is free. *)

open Concord
open Concord_test_support.Race
open Crew

type world = {
  boxes : int Mvar.t array;
  channels : int Channel.t array;
  streams : int Stream.t array;
  mailbox : int Mailbox.t;
  mutexes : (Mutex.t * int Atomic.t) array;
  permits : Semaphore.Counting.t;
  rwlock : Rwlock.t;
  inside_rwlock : int Atomic.t;  (** The number of readers, or -1. *)
}

let permits = 2

let world () =
  {
    boxes = Array.init 2 (fun _ -> Mvar.create_empty ());
    channels = Array.init 2 (fun _ -> Channel.create ());
    streams = [| Stream.create 1; Stream.create 3 |];
    mailbox = Mailbox.create ();
    mutexes = Array.init 2 (fun _ -> (Mutex.create (), Atomic.make 0));
    permits = Semaphore.Counting.make permits;
    rwlock = Rwlock.create ();
    inside_rwlock = Atomic.make 0;
  }

(* A record of what the tasks of one crew have done. *)
type ledger = {
  crew : Crew.t;
  mutable values : int;
  mutable sent : int list;
  mutable received : int list;
}

let fresh l =
  l.values <- l.values + 1;
  (2 * l.values) + l.crew.index

let sent l v = l.sent <- v :: l.sent
let received l v = l.received <- v :: l.received

(* --- Alternatives ------------------------------------------------------------- *)

(* An operation, and a function that runs after it, in which the task may be cancelled. *)
type alternative = { event : unit Event.t; after : unit -> unit }

let giving l event_of =
  let v = fresh l in
  { event = Event.wrap (event_of v) (fun () -> sent l v); after = ignore }

let getting l event = { event = Event.wrap event (received l); after = ignore }

let holding l event ~enter ~leave =
  let after () =
    enter ();
    Fun.protect ~finally:leave (fun () ->
        if at_random l.crew 2 then yield l.crew)
  in
  { event; after }

let change counter by ~expect =
  if not (expect (Atomic.fetch_and_add counter by)) then
    fail "a task that must be alone is not"

let alone n = n = 0

let lock l (mutex, inside) =
  holding l (Mutex.lock_evt mutex)
    ~enter:(fun () -> change inside 1 ~expect:alone)
    ~leave:(fun () ->
      Atomic.decr inside;
      Mutex.unlock mutex)

let read l w =
  holding l
    (Rwlock.read_lock_evt w.rwlock)
    ~enter:(fun () -> change w.inside_rwlock 1 ~expect:(fun n -> n >= 0))
    ~leave:(fun () ->
      Atomic.decr w.inside_rwlock;
      Rwlock.read_unlock w.rwlock)

let write l w =
  holding l
    (Rwlock.write_lock_evt w.rwlock)
    ~enter:(fun () -> change w.inside_rwlock (-1) ~expect:alone)
    ~leave:(fun () ->
      Atomic.incr w.inside_rwlock;
      Rwlock.write_unlock w.rwlock)

let permit l w =
  holding l (Semaphore.Counting.acquire_evt w.permits) ~enter:ignore
    ~leave:(fun () -> Semaphore.Counting.release w.permits)

let up_to_1_ms l = Event.timeout (Random.State.float l.crew.random 0.001)
let everything = Array.init 17 Fun.id

(* Both sides that meet here are choices. *)
let rendezvous = [| 4; 5; 6; 7; 16 |]

let alternative l w kinds =
  let any choices = any l.crew choices in
  match any kinds with
  | 0 | 1 -> getting l (Mvar.take_evt (any w.boxes))
  | 2 | 3 -> giving l (Mvar.put_evt (any w.boxes))
  | 4 | 5 -> getting l (Channel.receive_evt (any w.channels))
  | 6 | 7 -> giving l (Channel.send_evt (any w.channels))
  | 8 | 9 -> getting l (Stream.take_evt (any w.streams))
  | 10 | 11 -> giving l (Stream.add_evt (any w.streams))
  | 12 -> getting l (Mailbox.take_evt w.mailbox)
  | 13 -> lock l (any w.mutexes)
  | 14 -> permit l w
  | 15 -> if at_random l.crew 3 then write l w else read l w
  | _ -> { event = up_to_1_ms l; after = ignore }

(* --- A choice ----------------------------------------------------------------- *)

(* The numbers of the alternatives to which this happened. *)
type record = {
  mutable abortable : int list;
  mutable performed : int list;
  mutable aborted : int list;
}

let check record =
  let expected =
    List.filter (fun i -> not (List.mem i record.performed)) record.abortable
  in
  if List.length record.performed > 1 then fail "two alternatives are performed";
  if List.sort Int.compare record.aborted <> List.sort Int.compare expected then
    fail "not each alternative that was not performed is aborted once"

let choose l w kinds =
  let record = { abortable = []; performed = []; aborted = [] } in
  let one i =
    let { event; after } = alternative l w kinds in
    let event =
      Event.wrap event (fun () ->
          record.performed <- i :: record.performed;
          after ())
    in
    if at_random l.crew 2 then event
    else begin
      record.abortable <- i :: record.abortable;
      Event.wrap_abort event (fun () -> record.aborted <- i :: record.aborted)
    end
  in
  let some from n = List.init n (fun i -> one (from + i)) in
  let here = some 0 (1 + Random.State.int l.crew.random 4)
  and deeper = some 10 (Random.State.int l.crew.random 3) in
  let all = Event.guard (fun () -> Event.choose deeper) :: here in
  let perform () =
    match Random.State.int l.crew.random 12 with
    | 0 -> ignore (Event.poll (Event.choose all) : unit option)
    | 1 -> ignore (Event.sync_before 0.001 (Event.choose all) : unit option)
    | _ ->
        Event.select all;
        if record.performed = [] then fail "no alternative is performed"
  in
  Fun.protect perform ~finally:(fun () -> check record)

(* --- A storm ------------------------------------------------------------------ *)

(* Gives and takes values for which a task may be waiting. *)
let help l w =
  let give try_give =
    let v = fresh l in
    if try_give v then sent l v
  and get try_get = Option.iter (received l) (try_get ()) in
  let exchange (try_give, try_get) =
    if at_random l.crew 2 then give try_give else get try_get
  in
  Array.iter
    (fun t -> exchange (Mvar.try_put t, fun () -> Mvar.try_take t))
    w.boxes;
  Array.iter
    (fun t -> exchange (Channel.try_send t, fun () -> Channel.try_receive t))
    w.channels;
  Array.iter
    (fun t -> exchange (Stream.try_add t, fun () -> Stream.try_take t))
    w.streams;
  let put v =
    Mailbox.add w.mailbox v;
    true
  in
  exchange (put, fun () -> Mailbox.try_take w.mailbox)

(* Returns the remaining values. Everything must be free. *)
let at_rest w =
  let rec drain try_take =
    match try_take () with None -> [] | Some v -> v :: drain try_take
  in
  let nobody what n = if n <> 0 then fail "a task waits at a %s" what in
  let each f all = List.concat_map f (Array.to_list all) in
  Array.iter
    (fun (mutex, _) ->
      nobody "mutex" (Mutex.waiters mutex);
      if Mutex.is_locked mutex then fail "a mutex is locked")
    w.mutexes;
  nobody "semaphore" (Semaphore.Counting.waiters w.permits);
  if Semaphore.Counting.get_value w.permits <> permits then
    fail "a permit is lost, or one too many";
  nobody "rwlock" (Rwlock.waiters w.rwlock);
  if not (Rwlock.try_write_lock w.rwlock) then fail "the rwlock is held";
  Array.iter (fun t -> nobody "channel" (Channel.waiters t)) w.channels;
  nobody "mailbox" (Mailbox.waiters w.mailbox);
  let in_boxes =
    each
      (fun t ->
        nobody "mvar" (Mvar.waiters t);
        drain (fun () -> Mvar.try_take t))
      w.boxes
  and in_streams =
    each
      (fun t ->
        nobody "stream" (Stream.waiters t);
        drain (fun () -> Stream.try_take t))
      w.streams
  in
  in_boxes @ in_streams @ Mailbox.drain w.mailbox

let storm_of_choices kinds hosts =
  let tasks = 12 and times = 1_000 in
  let w = world () in
  let ledgers = [| None; None |] in
  let all crew =
    let l = { crew; values = 0; sent = []; received = [] } in
    ledgers.(crew.index) <- Some l;
    let working = ref tasks in
    let work () =
      for _ = 1 to times do
        ignore (attempt crew (fun () -> choose l w kinds) : unit option)
      done;
      decr working
    in
    let rec until_all_are_done () =
      if !working > 0 then begin
        Event.sync (Event.timeout 0.0005);
        help l w;
        cancel_somebody crew;
        until_all_are_done ()
      end
    in
    until_all_are_done :: List.init tasks (fun _ -> work)
  in
  let tally = storm hosts all in
  let left = at_rest w in
  let ledgers = List.filter_map Fun.id (Array.to_list ledgers) in
  let sorted = List.sort Int.compare in
  let sent = sorted (List.concat_map (fun l -> l.sent) ledgers)
  and received =
    sorted (left @ List.concat_map (fun l -> l.received) ledgers)
  in
  if sent <> received then
    fail "%d values sent, %d received or left: not the same" (List.length sent)
      (List.length received);
  tally

let () =
  rounds
    (if long then 1_000 else 4)
    [
      ("choice", storm_of_choices everything);
      ("of rendezvous", storm_of_choices rendezvous);
    ]
