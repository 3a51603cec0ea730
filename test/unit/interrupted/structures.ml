(* What the table of those who wait does not have: operations that need not wait, or
   whose result that table counts, so that it cannot judge one that was interrupted. *)

open Concord
open Scene
module Moments = Concord_test_support.Moments
module Partner = Concord_test_support.Partner

let flag b = [ Bool.to_int b ]
let none_or = function None -> [ none ] | Some v -> [ v ]
let nothing () = []
let rec drain f = match f () with Some v -> v :: drain f | None -> []

(* Of a structure that was closed, or of a promise that failed. *)
let closed = -2

let or_closed f =
  try f () with Stream.Closed | Channel.Closed | Not_found -> closed

let come f = come (fun () -> or_closed f)

(* Those who have come to wait while the function of a bracket ran. *)
let arrived = ref []

let arrive waiting t =
  Moments.unwatched (fun () -> arrived := List.map (fun wait -> wait t) waiting);
  []

let finish_all waiting = List.map (fun finish -> finish ()) (waiting @ !arrived)

(* Its task chose otherwise, and has not withdrawn it yet. *)
let refusing event =
  let other = Promise.create () in
  let finish =
    come (fun () ->
        Event.select
          [ event; Event.wrap (Promise.await_evt other) (fun () -> 0) ])
  in
  Promise.fill other ();
  finish

let as_event name event =
  let name = name ^ "_evt" in
  let after f t = f (Event.wrap (event t) Fun.id) in
  [
    (name ^ ", synced", after Event.sync);
    ( name ^ ", chosen",
      after (fun event -> Event.select [ Event.never; event; Event.never ]) );
    ( name ^ ", polled",
      after (fun event -> Option.value (Event.poll event) ~default:[ none ]) );
    ( name ^ ", before a time",
      after (fun event ->
          Option.value (Event.sync_before 60. event) ~default:[ none ]) );
  ]

let number event = Event.wrap event (fun v -> [ v ])
let unit event = Event.wrap event nothing

(* Polled, it would not wait. *)
let unless_polled operations =
  List.filter
    (fun (name, _) -> not (String.ends_with ~suffix:"polled" name))
    operations

(* [operations], in the scene that [make] makes for each. *)
let in_state state make operations =
  List.map
    (fun (name, perform) ->
      let make () =
        arrived := [];
        make perform
      in
      { name = name ^ ", " ^ state; make })
    operations

(* --- Mutex ------------------------------------------------------------------------ *)

let lock t () =
  Mutex.lock t;
  1

let mutex ?(held = false) ?wake ?(waiting = []) perform =
  let t = Mutex.create () in
  if held then Mutex.lock t;
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Mutex.waiters t in
  let look () =
    let is_locked = flag (Mutex.is_locked t) in
    let got = finish_all waiting in
    let waiters = waiters () in
    if Mutex.is_locked t then Mutex.unlock t;
    let locked = flag (Mutex.try_lock t) in
    Mutex.unlock t;
    (waiters :: is_locked) @ got @ locked
  in
  let beside =
    visit (fun () ->
        Mutex.lock t;
        Mutex.unlock t;
        0)
  in
  let wake = Option.map (fun wake () -> wake t) wake in
  scene (fun () -> perform t) ~beside ?wake ~waiters ~look

let locks t = come (lock t)
let refuses_to_lock t = refusing (Event.wrap (Mutex.lock_evt t) (fun () -> 1))

exception Boom

let raising f t =
  match f t (fun () -> raise Boom) with v -> v | exception Boom -> []

(* A thread that sleeps is not given the mutex, but nudged to come for it. *)
let sleeper = lazy (Partner.thread ())

let thread_waits perform =
  let t = Mutex.create () and got = Atomic.make false in
  Mutex.lock t;
  let sleeper = Stdlib.Lazy.force sleeper in
  Partner.ask sleeper (fun () ->
      Mutex.lock t;
      Atomic.set got true);
  while Mutex.waiters t = 0 do
    Thread.yield ()
  done;
  Unix.sleepf 0.000_2;
  let look () =
    (* enough for it to come, if it was nudged *)
    if not (Atomic.get got) then Unix.sleepf 0.002;
    (if not (Atomic.get got) then try Mutex.unlock t with Sys_error _ -> ());
    Partner.join sleeper;
    if Mutex.is_locked t then Mutex.unlock t;
    Mutex.waiters t :: flag (Mutex.try_lock t)
  in
  scene (fun () -> perform t) ~waiters:(fun () -> Mutex.waiters t) ~look

let mutexes =
  let lock t =
    Mutex.lock t;
    []
  in
  in_state "free" mutex
    ([
       ("Mutex.lock", lock);
       ("Mutex.try_lock", fun t -> flag (Mutex.try_lock t));
       ("Mutex.protect", fun t -> Mutex.protect t nothing);
       ("Mutex.protect, raising", raising Mutex.protect);
       ( "Mutex.protect, others come",
         fun t ->
           Mutex.protect t (fun () ->
               arrive [ locks; refuses_to_lock; locks ] t) );
     ]
    @ as_event "Mutex.lock" (fun t -> unit (Mutex.lock_evt t)))
  @ in_state "held"
      (fun perform -> mutex ~held:true perform)
      [
        ("Mutex.try_lock", fun t -> flag (Mutex.try_lock t));
        ( "Mutex.unlock",
          fun t ->
            Mutex.unlock t;
            [] );
      ]
  @ in_state "others wait"
      (fun perform ->
        mutex ~held:true perform ~waiting:[ refuses_to_lock; locks; locks ])
      [
        ( "Mutex.unlock",
          fun t ->
            Mutex.unlock t;
            [] );
      ]
  @ in_state "a thread waits" thread_waits
      [
        ( "Mutex.unlock",
          fun t ->
            Mutex.unlock t;
            [] );
      ]
  @ in_state "only some that refuse"
      (fun perform ->
        mutex ~held:true perform ~waiting:[ refuses_to_lock; refuses_to_lock ])
      [
        ( "Mutex.unlock",
          fun t ->
            Mutex.unlock t;
            [] );
      ]

(* --- Semaphores --------------------------------------------------------------------- *)

module Semaphores (S : sig
  type t

  val name : string
  val make : bool -> t
  val acquire : t -> unit
  val try_acquire : t -> bool
  val release : t -> unit
  val acquire_evt : t -> unit Event.t
  val waiters : t -> int
  val with_permit : t -> (unit -> 'a) -> 'a
end) =
struct
  let acquires t =
    come (fun () ->
        S.acquire t;
        1)

  let refuses t = refusing (Event.wrap (S.acquire_evt t) (fun () -> 1))

  let semaphore ?(waiting = []) ?(wakes = false) available perform =
    let t = S.make available in
    let waiting = List.map (fun wait -> wait t) waiting in
    let waiters () = S.waiters t in
    let permits () =
      List.length (drain (fun () -> if S.try_acquire t then Some () else None))
    in
    let look () =
      let got = finish_all waiting in
      let waiters = waiters () in
      let permits = permits () in
      S.release t;
      (waiters :: permits :: got) @ flag (S.try_acquire t)
    in
    let beside =
      visit (fun () ->
          S.with_permit t ignore;
          0)
    in
    let wake = if wakes then Some (fun () -> S.release t) else None in
    scene (fun () -> perform t) ?wake ~beside ~waiters ~look

  let operation what = "Semaphore." ^ S.name ^ "." ^ what

  let release t =
    S.release t;
    []

  let cases =
    in_state "free" (semaphore true)
      ([
         ( operation "acquire",
           fun t ->
             S.acquire t;
             [] );
         (operation "try_acquire", fun t -> flag (S.try_acquire t));
         (operation "with_permit", fun t -> S.with_permit t nothing);
         (operation "with_permit, raising", raising S.with_permit);
         ( operation "with_permit, others come",
           fun t ->
             S.with_permit t (fun () ->
                 arrive [ acquires; refuses; acquires ] t) );
       ]
      @ as_event (operation "acquire") (fun t -> unit (S.acquire_evt t)))
    @ in_state "it waits"
        (semaphore false ~wakes:true)
        [ (operation "with_permit", fun t -> S.with_permit t nothing) ]
    @ in_state "none left" (semaphore false)
        [
          (operation "try_acquire", fun t -> flag (S.try_acquire t));
          (operation "release", release);
        ]
    @ in_state "others wait"
        (semaphore false ~waiting:[ refuses; acquires; acquires ])
        [ (operation "release", release) ]
    @ in_state "only some that refuse"
        (semaphore false ~waiting:[ refuses; refuses ])
        [ (operation "release", release) ]
end

module Counting = Semaphores (struct
  include Semaphore.Counting

  let name = "Counting"
  let make available = make (Bool.to_int available)
end)

module Binary = Semaphores (struct
  include Semaphore.Binary

  let name = "Binary"
end)

(* --- Rwlock ---------------------------------------------------------------------------- *)

type holder = Nobody | Reader | Writer

let reads t =
  come (fun () ->
      Rwlock.read_lock t;
      1)

let writes t =
  come (fun () ->
      Rwlock.write_lock t;
      1)

let refuses_to_read t =
  refusing (Event.wrap (Rwlock.read_lock_evt t) (fun () -> 1))

let refuses_to_write t =
  refusing (Event.wrap (Rwlock.write_lock_evt t) (fun () -> 1))

(* Whoever has it: how many readers, or a hundred for a writer. *)
let rec take_back t =
  if Rwlock.try_write_lock t then begin
    Rwlock.write_unlock t;
    0
  end
  else
    match Rwlock.read_unlock t with
    | () -> 1 + take_back t
    | exception Sys_error _ ->
        Rwlock.write_unlock t;
        100 + take_back t

let rwlock ?prefer ?(held = Nobody) ?(wakes = false) ?(waiting = []) perform =
  let t = Rwlock.create ?prefer () in
  let unlock () =
    match held with
    | Nobody -> ()
    | Reader -> Rwlock.read_unlock t
    | Writer -> Rwlock.write_unlock t
  in
  (match held with
  | Nobody -> ()
  | Reader -> Rwlock.read_lock t
  | Writer -> Rwlock.write_lock t);
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Rwlock.waiters t in
  let look () =
    let got = finish_all waiting in
    let waiters = waiters () in
    let held = take_back t in
    (waiters :: held :: got) @ flag (Rwlock.try_read_lock t)
  in
  let beside =
    visit (fun () ->
        Rwlock.read t ignore;
        0)
  in
  let wake = if wakes then Some unlock else None in
  scene (fun () -> perform t) ?wake ~beside ~waiters ~look

let rwlocks =
  let read_lock t =
    Rwlock.read_lock t;
    []
  and write_lock t =
    Rwlock.write_lock t;
    []
  and read_unlock t =
    Rwlock.read_unlock t;
    []
  and write_unlock t =
    Rwlock.write_unlock t;
    []
  in
  let tries =
    [
      ("Rwlock.try_read_lock", fun t -> flag (Rwlock.try_read_lock t));
      ("Rwlock.try_write_lock", fun t -> flag (Rwlock.try_write_lock t));
    ]
  in
  let reading =
    ("Rwlock.read_lock", read_lock)
    :: as_event "Rwlock.read_lock" (fun t -> unit (Rwlock.read_lock_evt t))
  in
  let crowd =
    [ refuses_to_write; reads; refuses_to_read; reads; writes; reads ]
  in
  let of_preference what prefer =
    in_state ("free" ^ what) (rwlock ?prefer)
      ([
         ("Rwlock.write_lock", write_lock);
         ("Rwlock.read", fun t -> Rwlock.read t nothing);
         ("Rwlock.write", fun t -> Rwlock.write t nothing);
         ("Rwlock.read, raising", raising Rwlock.read);
         ("Rwlock.write, raising", raising Rwlock.write);
         ( "Rwlock.read, others come",
           fun t ->
             Rwlock.read t (fun () ->
                 arrive [ refuses_to_write; writes; reads; refuses_to_read ] t)
         );
         ( "Rwlock.write, others come",
           fun t -> Rwlock.write t (fun () -> arrive crowd t) );
       ]
      @ reading @ tries
      @ as_event "Rwlock.write_lock" (fun t -> unit (Rwlock.write_lock_evt t)))
    @ in_state ("a writer has it" ^ what)
        (rwlock ?prefer ~held:Writer ~wakes:true)
        (unless_polled reading)
    @ in_state
        ("held by a writer" ^ what)
        (rwlock ?prefer ~held:Writer)
        (("Rwlock.write_unlock", write_unlock) :: tries)
    @ in_state
        ("held by a reader" ^ what)
        (rwlock ?prefer ~held:Reader)
        (("Rwlock.read_unlock", read_unlock) :: tries)
    @ in_state ("others wait" ^ what)
        (rwlock ?prefer ~held:Writer ~waiting:crowd)
        [ ("Rwlock.write_unlock", write_unlock) ]
    @ in_state ("others wait" ^ what)
        (rwlock ?prefer ~held:Reader
           ~waiting:[ refuses_to_write; writes; reads; writes ])
        [ ("Rwlock.read_unlock", read_unlock) ]
    @ in_state
        ("others wait behind a writer that refuses" ^ what)
        (rwlock ?prefer ~held:Reader
           ~waiting:[ refuses_to_write; reads; reads ])
        (("Rwlock.read_unlock", read_unlock) :: tries)
  in
  of_preference "" None @ of_preference ", writers first" (Some `Writers)

(* --- Mvar ------------------------------------------------------------------------------ *)

let box ?content ?(waiting = []) ?parts perform =
  let t =
    match content with Some v -> Mvar.create v | None -> Mvar.create_empty ()
  in
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Mvar.waiters t in
  let take () = Mvar.take_available t in
  let look () =
    let got = finish_all waiting in
    let waiters = waiters () in
    let left = drain take in
    let put = flag (Mvar.try_put t 50) in
    (waiters :: got) @ left @ put @ none_or (take ())
  in
  let parts = Option.map (List.map (fun part () -> part t)) parts in
  scene
    (fun () -> perform t)
    ?parts
    ~beside:(visit (fun () -> Mvar.read t))
    ~waiters ~look

let takes_box t = come (fun () -> Mvar.take t)
let reads_box t = come (fun () -> Mvar.read t)

let puts v t =
  come (fun () ->
      Mvar.put t v;
      0)

let modifies t = come (fun () -> Mvar.modify t (fun v -> (v + 10, v)))
let refuses_to_take t = refusing (Mvar.take_evt t)
let refuses_to_put v t = refusing (Event.wrap (Mvar.put_evt t v) (fun () -> 0))
let increment v = (v + 1, [ v ])

let boxes =
  let put t =
    Mvar.put t 5;
    []
  in
  let puts_now =
    [ ("Mvar.put", put); ("Mvar.try_put", fun t -> flag (Mvar.try_put t 5)) ]
    @ as_event "Mvar.put" (fun t -> unit (Mvar.put_evt t 5))
  and tries =
    [
      ("Mvar.take_available", fun t -> none_or (Mvar.take_available t));
      ("Mvar.try_take", fun t -> none_or (Mvar.try_take t));
      ("Mvar.try_read", fun t -> none_or (Mvar.try_read t));
    ]
  in
  let uses =
    [
      ("Mvar.take", fun t -> [ Mvar.take t ]);
      ("Mvar.read", fun t -> [ Mvar.read t ]);
      ("Mvar.swap", fun t -> [ Mvar.swap t 5 ]);
      ("Mvar.modify", fun t -> Mvar.modify t increment);
      ( "Mvar.modify, raising",
        fun t ->
          match Mvar.modify t (fun _ -> raise Boom) with
          | v -> v
          | exception Boom -> [] );
    ]
    @ tries
    @ List.concat
        [
          as_event "Mvar.take" (fun t -> number (Mvar.take_evt t));
          as_event "Mvar.read" (fun t -> number (Mvar.read_evt t));
          as_event "Mvar.swap" (fun t -> number (Mvar.swap_evt t 5));
          as_event "Mvar.modify" (fun t -> Mvar.modify_evt t increment);
        ]
  in
  let takers = [ refuses_to_take; reads_box; takes_box; reads_box ] in
  let arrivals = [ reads_box; refuses_to_take; takes_box; puts 6 ] in
  let come_and_raise t =
    try
      Mvar.modify t (fun _ ->
          ignore (arrive arrivals t : int list);
          raise Boom)
    with Boom -> ()
  in
  in_state "empty" box (puts_now @ tries)
  @ in_state "full" (box ~content:1)
      (("Mvar.try_put", fun t -> flag (Mvar.try_put t 5)) :: uses)
  @ in_state "others come"
      (box ~content:1 ~parts:[ come_and_raise ])
      [
        ( "Mvar.modify",
          fun t -> Mvar.modify t (fun v -> (v + 1, arrive arrivals t)) );
      ]
  @ in_state "others wait to put"
      (box ~content:1 ~waiting:[ refuses_to_put 2; puts 3; puts 4 ])
      uses
  @ in_state "others wait to take" (box ~waiting:takers) puts_now
  @ in_state "others wait to modify and to take"
      (box ~waiting:(modifies :: takers))
      puts_now

(* --- Channel ---------------------------------------------------------------------------- *)

let channel ?(waiting = []) ?wake perform =
  let t = Channel.create () in
  let waiting = List.map (fun wait -> wait t) waiting in
  let woken = ref [] in
  let waiters () = Channel.waiters t in
  let look () =
    let got = finish_all waiting in
    let waiters = waiters () in
    let round =
      if Channel.is_closed t then [ closed ]
      else
        let finish = come (fun () -> Channel.receive t) in
        let sent = flag (Channel.try_send t 50) in
        sent @ [ finish () ]
    in
    (waiters :: !woken) @ got @ round
  in
  let wake = Option.map (fun wake () -> woken := wake t) wake in
  scene (fun () -> perform t) ?wake ~remembers:false ~waiters ~look

let receives t = come (fun () -> Channel.receive t)

let sends v t =
  come (fun () ->
      Channel.send t v;
      0)

let refuses_to_receive t = refusing (Channel.receive_evt t)

let refuses_to_send v t =
  refusing (Event.wrap (Channel.send_evt t v) (fun () -> 0))

let channels =
  let close t =
    Channel.close t;
    []
  in
  let sending =
    [
      ( "Channel.send",
        fun t ->
          Channel.send t 5;
          [] );
      ("Channel.try_send", fun t -> flag (Channel.try_send t 5));
      ( "Channel.add_seq",
        fun t ->
          Channel.add_seq t (Seq.return 5);
          [] );
    ]
    @ as_event "Channel.send" (fun t -> unit (Channel.send_evt t 5))
  and receiving =
    [
      ("Channel.receive", fun t -> [ Channel.receive t ]);
      ("Channel.next", fun t -> none_or (Channel.next t));
    ]
    @ as_event "Channel.receive" (fun t -> number (Channel.receive_evt t))
    @ as_event "Channel.next" (fun t -> Event.wrap (Channel.next_evt t) none_or)
  and receiving_now =
    [
      ("Channel.try_receive", fun t -> none_or (Channel.try_receive t));
      ("Channel.to_seq", fun t -> List.of_seq (Seq.take 1 (Channel.to_seq t)));
    ]
  in
  let drains = [ ("Channel.drain", fun t -> Channel.drain t) ] in
  let closes = [ ("Channel.close", close) ] in
  let senders = [ refuses_to_send 2; sends 3; sends 4 ] in
  in_state "nobody waits" channel
    (closes @ drains
    @ [
        ("Channel.try_send", fun t -> flag (Channel.try_send t 5));
        ("Channel.try_receive", fun t -> none_or (Channel.try_receive t));
      ])
  @ in_state "it waits"
      (channel ~wake:(fun t -> flag (Channel.try_send t 5)))
      (unless_polled receiving)
  @ in_state "others wait to send" (channel ~waiting:senders)
      (receiving @ receiving_now @ closes)
  @ in_state "at its end"
      (fun perform ->
        channel (fun t ->
            ignore (close t : int list);
            perform t))
      [
        ( "Channel.iter",
          fun t ->
            Channel.iter ignore t;
            [] );
        ("Channel.fold", fun t -> [ Channel.fold ( + ) 0 t ]);
      ]
  @ in_state "others wait to receive"
      (channel ~waiting:[ refuses_to_receive; receives; receives ])
      (sending @ closes)

(* --- Queues ------------------------------------------------------------------------------- *)

module Queues (Q : sig
  type 'a t

  val name : string
  val create : unit -> int t
  val try_add : int t -> int -> bool
  val try_take : 'a t -> 'a option
  val take : 'a t -> 'a
  val take_evt : 'a t -> 'a Event.t
  val take_all : 'a t -> 'a list
  val drain : 'a t -> 'a list
  val add_seq : 'a t -> 'a Seq.t -> unit
  val close : 'a t -> unit
  val is_closed : 'a t -> bool
  val waiters : 'a t -> int

  include Concord__Reader.S with type 'a t := 'a t
end) =
struct
  let operation what = Q.name ^ "." ^ what

  let queue ?(items = []) ?(waiting = []) ?(is_closed = false) ?parts perform =
    let t = Q.create () in
    List.iter (fun v -> ignore (Q.try_add t v : bool)) items;
    if is_closed then Q.close t;
    let waiting = List.map (fun wait -> wait t) waiting in
    let waiters () = Q.waiters t in
    let look () =
      let got = finish_all waiting in
      let waiters = waiters () in
      let left = Q.take_all t in
      let round =
        if Q.is_closed t then [ closed ]
        else
          let added = flag (Q.try_add t 50) in
          added @ none_or (Q.try_take t)
      in
      (waiters :: got) @ (100 :: left) @ (100 :: round)
    in
    let parts = Option.map (List.map (fun part () -> part t)) parts in
    scene (fun () -> perform t) ?parts ~waiters ~look

  let takes t = come (fun () -> Q.take t)
  let refuses t = refusing (Q.take_evt t)

  let close t =
    Q.close t;
    []

  let takings =
    [
      (operation "take", fun t -> [ Q.take t ]);
      (operation "try_take", fun t -> none_or (Q.try_take t));
      (operation "take_all", fun t -> Q.take_all t);
      (operation "next", fun t -> none_or (Q.next t));
      (operation "drain", fun t -> Q.drain t);
      (operation "close", close);
      (operation "to_seq", fun t -> List.of_seq (Seq.take 1 (Q.to_seq t)));
    ]
    @ as_event (operation "take") (fun t -> number (Q.take_evt t))
    @ as_event (operation "next") (fun t -> Event.wrap (Q.next_evt t) none_or)

  let readings =
    [
      ( operation "iter",
        fun t ->
          Q.iter ignore t;
          [] );
      (operation "fold", fun t -> [ Q.fold ( + ) 0 t ]);
      (operation "to_seq, to the end", fun t -> List.of_seq (Q.to_seq t));
    ]

  let take_one t = ignore (Q.try_take t : int option)
  let add v t = ignore (Q.try_add t v : bool)

  let cases ~adding ~adders =
    in_state "empty" queue
      (adding
      @ [
          (operation "try_take", fun t -> none_or (Q.try_take t));
          (operation "take_all", fun t -> Q.take_all t);
          (operation "drain", fun t -> Q.drain t);
          (operation "close", close);
        ])
    @ in_state "two items" (queue ~items:[ 1; 2 ]) takings
    @ in_state "two items, others wait to add"
        (queue ~items:[ 1; 2 ] ~waiting:adders)
        (if adders = [] then [] else takings)
    @ in_state "two items and an end"
        (queue ~items:[ 1; 2 ] ~is_closed:true ~parts:[ take_one; take_one ])
        readings
    @ in_state "others wait to take"
        (queue ~waiting:[ refuses; takes; takes; takes ])
        ((operation "close", close) :: adding)
    @ in_state "two in a row"
        (queue ~parts:[ add 5; add 6 ])
        [
          ( operation "add_seq",
            fun t ->
              Q.add_seq t (List.to_seq [ 5; 6 ]);
              [] );
        ]
end

module Streams = Queues (struct
  include Stream

  let name = "Stream"
  let create () = Stream.create 2
end)

let adds v t =
  come (fun () ->
      Stream.add t v;
      0)

let refuses_to_add v t =
  refusing (Event.wrap (Stream.add_evt t v) (fun () -> 0))

let streams =
  Streams.cases
    ~adders:[ refuses_to_add 7; adds 8; adds 9 ]
    ~adding:
      ([
         ( "Stream.add",
           fun t ->
             Stream.add t 5;
             [] );
         ("Stream.try_add", fun t -> flag (Stream.try_add t 5));
         ( "Stream.take_nonblocking",
           fun t -> none_or (Stream.take_nonblocking t) );
       ]
      @ as_event "Stream.add" (fun t -> unit (Stream.add_evt t 5)))
  @ in_state "two items, others wait to add"
      (Streams.queue ~items:[ 1; 2 ]
         ~waiting:[ refuses_to_add 7; adds 8; adds 9 ])
      [
        ("Stream.take_nonblocking", fun t -> none_or (Stream.take_nonblocking t));
        ("Stream.try_add", fun t -> flag (Stream.try_add t 5));
      ]

module Mailboxes = Queues (struct
  include Mailbox

  let name = "Mailbox"
  let create () = Mailbox.create ()

  let try_add t v =
    Mailbox.put t v;
    true
end)

let mailboxes =
  Mailboxes.cases ~adders:[]
    ~adding:
      [
        ( "Mailbox.put",
          fun t ->
            Mailbox.put t 5;
            [] );
      ]

(* --- Broadcast ------------------------------------------------------------------------------ *)

let broadcast ?(sent = []) ?(is_closed = false) ?(waiting = []) ?parts perform =
  let t = Broadcast.create () in
  let s = Broadcast.subscribe t and s' = Broadcast.subscribe t in
  List.iter (Broadcast.send t) sent;
  if is_closed then Broadcast.close t;
  let waiting = List.map (fun wait -> wait s) waiting in
  let behind = come (fun () -> Broadcast.receive s') in
  let waiters () = Broadcast.waiters s + Broadcast.waiters s' in
  let look () =
    let got = finish_all waiting in
    let left = Broadcast.drain s in
    let behind = behind () in
    let waiters = waiters () in
    let behind = behind :: Broadcast.drain s' in
    let round =
      if Broadcast.is_closed t then [ closed ]
      else begin
        Broadcast.send t 50;
        none_or (Broadcast.try_receive s) @ none_or (Broadcast.try_receive s')
      end
    in
    (waiters :: got) @ (100 :: left) @ (100 :: behind) @ (100 :: round)
  in
  let parts = Option.map (List.map (fun part () -> part (t, s))) parts in
  scene (fun () -> perform (t, s)) ?parts ~waiters ~look

let broadcasts =
  let send (t, _) =
    Broadcast.send t 5;
    []
  and close (t, _) =
    Broadcast.close t;
    []
  in
  let news = [ ("Broadcast.send", send); ("Broadcast.close", close) ]
  and two_news =
    [
      ( "Broadcast.add_seq",
        fun (t, _) ->
          Broadcast.add_seq t (List.to_seq [ 5; 6 ]);
          [] );
    ]
  and receiving =
    [
      ("Broadcast.receive", fun (_, s) -> [ Broadcast.receive s ]);
      ("Broadcast.try_receive", fun (_, s) -> none_or (Broadcast.try_receive s));
      ("Broadcast.next", fun (_, s) -> none_or (Broadcast.next s));
      ("Broadcast.drain", fun (_, s) -> Broadcast.drain s);
      ( "Broadcast.to_seq",
        fun (_, s) -> List.of_seq (Seq.take 1 (Broadcast.to_seq s)) );
    ]
    @ as_event "Broadcast.receive" (fun (_, s) ->
        number (Broadcast.receive_evt s))
    @ as_event "Broadcast.next" (fun (_, s) ->
        Event.wrap (Broadcast.next_evt s) none_or)
  and to_the_end =
    [
      ( "Broadcast.iter",
        fun (_, s) ->
          Broadcast.iter ignore s;
          [] );
      ("Broadcast.fold", fun (_, s) -> [ Broadcast.fold ( + ) 0 s ]);
      ( "Broadcast.to_seq, to the end",
        fun (_, s) -> List.of_seq (Broadcast.to_seq s) );
    ]
  in
  let receives s = come (fun () -> Broadcast.receive s) in
  let refuses s = refusing (Broadcast.receive_evt s) in
  let send v (t, _) = Broadcast.send t v in
  let take (_, s) = ignore (Broadcast.try_receive s : int option) in
  in_state "no news" broadcast
    (news
    @ [
        ( "Broadcast.subscribe",
          fun (t, _) ->
            ignore (Broadcast.subscribe t : int Broadcast.subscription);
            [] );
        ( "Broadcast.try_receive",
          fun (_, s) -> none_or (Broadcast.try_receive s) );
        ("Broadcast.drain", fun (_, s) -> Broadcast.drain s);
      ])
  @ in_state "two in a row" (broadcast ~parts:[ send 5; send 6 ]) two_news
  @ in_state "two values" (broadcast ~sent:[ 1; 2 ]) (receiving @ news)
  @ in_state "two values and an end"
      (broadcast ~sent:[ 1; 2 ] ~is_closed:true ~parts:[ take; take ])
      to_the_end
  @ in_state "others wait"
      (broadcast ~waiting:[ refuses; receives; receives ])
      news
  @ in_state "others wait, two in a row"
      (broadcast
         ~waiting:[ refuses; receives; receives ]
         ~parts:[ send 5; send 6 ])
      two_news

(* --- Bvar, Latch ------------------------------------------------------------------------------- *)

let bvar ?(waiting = []) perform =
  let t = Bvar.create () in
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Bvar.waiters t in
  let look () =
    let got = finish_all waiting in
    let waiters = waiters () in
    let finish = come (fun () -> Bvar.wait t) in
    let signalled = flag (Bvar.signal t 50) in
    (waiters :: got) @ signalled @ [ finish () ]
  in
  scene (fun () -> perform t) ~waiters ~look

let bvars =
  let waits t = come (fun () -> Bvar.wait t) in
  let refuses t = refusing (Bvar.wait_evt t) in
  let operations =
    [
      ("Bvar.signal", fun t -> flag (Bvar.signal t 5));
      ( "Bvar.broadcast",
        fun t ->
          Bvar.broadcast t 5;
          [] );
      ( "Bvar.broadcast_exn",
        fun t ->
          Bvar.broadcast_exn t Not_found;
          [] );
    ]
  in
  in_state "nobody waits" bvar operations
  @ in_state "others wait"
      (bvar ~waiting:[ refuses; waits; refuses; waits; waits ])
      operations

let latch ?(waiting = []) ?(count = 1) perform =
  let t = Latch.create count in
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Latch.waiters t in
  let look () =
    let count = Latch.count t and got = finish_all waiting in
    let waiters = waiters () in
    let next =
      come (fun () ->
          Latch.await t;
          1)
    in
    while not (Latch.is_open t) do
      Latch.count_down t
    done;
    (waiters :: count :: got) @ [ next () ]
  in
  scene
    (fun () -> perform t)
    ~beside:
      (visit (fun () ->
           Latch.await t;
           0))
    ~waiters ~look

let latches =
  let awaits t =
    come (fun () ->
        Latch.await t;
        1)
  in
  let refuses t = refusing (Event.wrap (Latch.await_evt t) (fun () -> 1)) in
  let count_down t =
    Latch.count_down t;
    []
  in
  let waiting = [ awaits; refuses; awaits; awaits ] in
  in_state "of two" (latch ~count:2 ~waiting)
    [ ("Latch.count_down", count_down) ]
  @ in_state "the last one" latch [ ("Latch.count_down", count_down) ]
  @ in_state "the last one, others wait" (latch ~waiting)
      [ ("Latch.count_down", count_down) ]
  @ in_state "open" (latch ~count:0)
      (( "Latch.await",
         fun t ->
           Latch.await t;
           [] )
      :: as_event "Latch.await" (fun t -> unit (Latch.await_evt t)))

(* --- Condition ----------------------------------------------------------------------------------- *)

(* The caller has the mutex, before and after. *)
let condition ?wake perform =
  let t = Condition.create () and m = Mutex.create () in
  Mutex.lock m;
  let waiters () = Condition.waiters t in
  let look () =
    let waiters = waiters () and is_locked = flag (Mutex.is_locked m) in
    if Mutex.is_locked m then Mutex.unlock m;
    let finish =
      come (fun () ->
          Condition.wait_no_mutex t;
          1)
    in
    Condition.signal t;
    (waiters :: Mutex.waiters m :: is_locked) @ [ finish () ]
  in
  let wake = Option.map (fun wake () -> wake t) wake in
  scene
    (fun () -> perform (t, m))
    ?wake ~remembers:false ~waiters ~look
    ~beside:
      (visit (fun () ->
           Mutex.lock m;
           Mutex.unlock m;
           0))

let signalled ?(waiting = []) perform =
  let t = Condition.create () in
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Condition.waiters t in
  let look () =
    let got = finish_all waiting in
    let waiters = waiters () in
    let finish =
      come (fun () ->
          Condition.wait_no_mutex t;
          1)
    in
    Condition.signal t;
    (waiters :: got) @ [ finish () ]
  in
  scene (fun () -> perform t) ~waiters ~look

let conditions =
  let waiting =
    ( "Condition.wait",
      fun (t, m) ->
        Condition.wait t m;
        [] )
    :: unless_polled
         (as_event "Condition.wait" (fun (t, m) ->
              unit (Condition.wait_evt t m)))
  and wakes =
    [
      ( "Condition.signal",
        fun t ->
          Condition.signal t;
          [] );
      ( "Condition.broadcast",
        fun t ->
          Condition.broadcast t;
          [] );
    ]
  in
  let waits t =
    come (fun () ->
        Condition.wait_no_mutex t;
        1)
  in
  let waits_with_mutex t =
    let m = Mutex.create () in
    come (fun () ->
        Mutex.protect m (fun () -> Condition.wait t m);
        1)
  in
  let looks t =
    let looks = ref 0 in
    come (fun () ->
        Condition.loop_no_mutex t (fun () ->
            incr looks;
            if !looks > 1 then Some 1 else None))
  in
  let refuses t =
    refusing (Event.wrap (Condition.wait_no_mutex_evt t) (fun () -> 1))
  in
  in_state "signal" (condition ~wake:Condition.signal) waiting
  @ in_state "broadcast" (condition ~wake:Condition.broadcast) waiting
  @ in_state "nobody waits" signalled wakes
  @ in_state "others wait"
      (signalled
         ~waiting:[ refuses; waits; waits_with_mutex; refuses; looks; waits ])
      wakes

(* --- Promise ---------------------------------------------------------------------------------------- *)

let outcome t =
  match Promise.peek t with
  | None -> none
  | Some (Ok v) -> v
  | Some (Error _) -> closed

let awaits t = come (fun () -> Promise.await t)
let refuses_to_await t = refusing (Promise.await_evt t)

(* A function that is called, and a promise of promises. *)
let called t =
  let calls = ref 0 in
  Promise.on_resolve t (fun _ -> incr calls);
  fun () -> !calls

(* What a handler raises in the function, the new promise fails with. *)
let mapped t =
  let mapped = Promise.map (fun v -> v + 100) t in
  fun () ->
    match Promise.peek mapped with
    | Some (Ok v) when v >= 100 -> 1
    | Some (Error Moments.Interrupt) -> 1
    | _ -> outcome mapped

let combined combine t =
  let combined = combine t in
  fun () -> match Promise.peek combined with None -> none | Some _ -> 1

let others = Promise.of_value 7

let dependants =
  [
    called;
    mapped;
    combined Promise.to_result;
    combined (fun t -> Promise.both others t);
    combined (fun t -> Promise.all [ others; t ]);
    combined (fun t -> Promise.any [ Promise.create (); t ]);
  ]

let promise ?(waiting = []) ?resolved ?wake perform =
  let t = Promise.create () in
  Option.iter (Promise.fill t) resolved;
  let waiting = List.map (fun wait -> wait t) waiting in
  let waiters () = Promise.waiters t in
  let look () =
    let waiters = waiters () and before = outcome t in
    ignore (Promise.try_fill t 50 : bool);
    let got = finish_all waiting in
    (waiters :: before :: got) @ [ awaits t () ]
  in
  let wake = Option.map (fun wake () -> wake t) wake in
  scene
    (fun () -> perform t)
    ?wake
    ~beside:(visit (fun () -> Promise.await t))
    ~waiters ~look

(* What they have made is looked at: it is resolved with the promise, or not there. *)
let makers =
  let later make name =
    let perform made t =
      made := Some (make t);
      []
    in
    let case ?resolved state =
      {
        name = name ^ ", " ^ state;
        make =
          (fun () ->
            let made = ref None in
            let s = promise ?resolved (perform made) in
            let look () =
              let state = s.look () in
              state
              @
              match !made with
              | None -> [ none; none ]
              | Some f -> [ 1; f () ]
            in
            let forgotten () =
              ignore (s.perform () : int list);
              made := None
            in
            { s with look; parts = [ forgotten ]; beside = None });
      }
    in
    [ case "unresolved"; case ~resolved:3 "resolved" ]
  in
  List.concat
    [
      later called "Promise.on_resolve";
      later mapped "Promise.map";
      later (combined Promise.to_result) "Promise.to_result";
      later (combined (fun t -> Promise.both others t)) "Promise.both";
      later (combined (fun t -> Promise.all [ others; t ])) "Promise.all";
      later (combined (fun t -> Promise.any [ t ])) "Promise.any";
      later
        (fun t ->
          let calls = ref 0 in
          let cancel = Promise.on_resolve_cancellable t (fun _ -> incr calls) in
          fun () -> !calls + if cancel () then 100 else 0)
        "Promise.on_resolve_cancellable";
    ]

let promises =
  let resolving =
    [
      ( "Promise.fill",
        fun t ->
          Promise.fill t 5;
          [] );
      ("Promise.try_fill", fun t -> flag (Promise.try_fill t 5));
      ( "Promise.fail",
        fun t ->
          Promise.fail t Not_found;
          [] );
      ("Promise.try_fail", fun t -> flag (Promise.try_fail t Not_found));
      ( "Promise.resolve",
        fun t ->
          Promise.resolve t (Ok 5);
          [] );
      ("Promise.try_resolve", fun t -> flag (Promise.try_resolve t (Ok 5)));
      ("Promise.fail_waiters", fun t -> [ Promise.fail_waiters t Not_found ]);
    ]
  and awaiting =
    let result = function Ok v -> [ v ] | Error _ -> [ closed ] in
    [
      ("Promise.await", fun t -> [ Promise.await t ]);
      ("Promise.await_result", fun t -> result (Promise.await_result t));
    ]
    @ as_event "Promise.await" (fun t -> number (Promise.await_evt t))
    @ as_event "Promise.await_result" (fun t ->
        Event.wrap (Promise.await_result_evt t) result)
  in
  let alone perform = { (promise perform) with beside = None } in
  in_state "nobody waits" alone resolving
  @ in_state "others wait"
      (fun perform ->
        {
          (promise perform
             ~waiting:([ awaits; refuses_to_await ] @ dependants @ [ awaits ]))
          with
          beside = None;
        })
      resolving
  @ in_state "filled while it waits"
      (promise ~wake:(fun t -> Promise.fill t 5))
      (unless_polled awaiting)
  @ in_state "filled" (promise ~resolved:5) awaiting
  @ makers

(* --- Lazy ---------------------------------------------------------------------------------------------- *)

(* What a handler raises in the computation is remembered, also if that was about to begin.
   The computation is run again if another handler raises before this is known. *)
let lazy_value ?(forced = false) ?(waiting = []) perform =
  let computed = ref 0 and fails = ref false and this = ref None in
  let t =
    Lazy.from_fun (fun () ->
        incr computed;
        Moments.unwatched (fun () ->
            ignore (arrive waiting (Option.get !this) : int list));
        if !fails then raise Moments.Interrupt;
        5)
  in
  this := Some t;
  let force () =
    match Lazy.force t with v -> v | exception Moments.Interrupt -> closed
  in
  if forced then ignore (force () : int);
  let waiters () = Lazy.waiters t in
  let look () =
    (* the computation may have been passed on to one of them *)
    let arrived = finish_all [] in
    let v = force () in
    let waiters = waiters () in
    let again = v <> closed && !computed = 2 && Moments.was_raised_twice () in
    let computed = if v = closed || again then 1 else !computed in
    let failed = v = closed && List.for_all (Int.equal closed) arrived in
    waiters :: v :: computed :: (if failed then [] else arrived)
  in
  let fail () =
    fails := true;
    match perform t with _ -> () | exception Moments.Interrupt -> ()
  in
  scene (fun () -> perform t) ~parts:[ fail ] ~waiters ~look

let lazies =
  let forces_lazy t =
    come (fun () ->
        match Lazy.force t with v -> v | exception Moments.Interrupt -> closed)
  in
  let forcing =
    [
      ("Lazy.force", fun t -> [ Lazy.force t ]);
      ("Lazy.force_val", fun t -> [ Lazy.force_val t ]);
      ("Lazy.map", fun t -> [ Lazy.force (Lazy.map succ t) ]);
      ("Lazy.map_val", fun t -> [ Lazy.force (Lazy.map_val succ t) ]);
    ]
  in
  in_state "to compute" lazy_value forcing
  @ in_state "to compute, others come"
      (lazy_value ~waiting:[ forces_lazy; forces_lazy ])
      forcing
  @ in_state "forced" (lazy_value ~forced:true)
      (forcing @ as_event "Lazy.await" (fun t -> number (Lazy.await_evt t)))

(* --- All ---------------------------------------------------------------------------------------------- *)

let cases =
  List.concat
    [
      mutexes;
      Counting.cases;
      Binary.cases;
      rwlocks;
      boxes;
      channels;
      streams;
      mailboxes;
      broadcasts;
      bvars;
      latches;
      conditions;
      promises;
      lazies;
    ]
