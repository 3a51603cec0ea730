(* Scenes of structures that hold no value. *)

open Concord
open Scene
open Kit
module Partner = Concord_test_support.Partner

(* --- Mutex ------------------------------------------------------------------------ *)

let locks = waits Mutex.lock
let refuses_to_lock = refuses Mutex.lock_evt

let use_mutex t =
  Mutex.protect t ignore;
  0

let mutex ?(held = false) ?wake ?waiting perform =
  let t = Mutex.create () in
  if held then Mutex.lock t;
  let left t =
    if Mutex.is_locked t then Mutex.unlock t;
    let locked = flag (Mutex.try_lock t) in
    Mutex.unlock t;
    locked
  in
  around t ?waiting ?wake ~beside:use_mutex ~waiters:Mutex.waiters ~left perform
    ~before:(fun t -> flag (Mutex.is_locked t))

(* [unlock] doesn't hand the mutex to a sleeping thread. It nudges the thread to come for
   it. *)
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
    (* A thread that was nudged comes within this time. *)
    if not (Atomic.get got) then Unix.sleepf 0.002;
    (if not (Atomic.get got) then try Mutex.unlock t with Sys_error _ -> ());
    Partner.join sleeper;
    if Mutex.is_locked t then Mutex.unlock t;
    Mutex.waiters t :: flag (Mutex.try_lock t)
  in
  scene (fun () -> perform t) ~waiters:(fun () -> Mutex.waiters t) ~look

let mutexes =
  let unlocking = [ ("Mutex.unlock", silent Mutex.unlock) ]
  and trying = [ ("Mutex.try_lock", fun t -> flag (Mutex.try_lock t)) ] in
  in_state "free" mutex
    ([
       ("Mutex.lock", silent Mutex.lock);
       ("Mutex.protect", fun t -> Mutex.protect t nothing);
       ("Mutex.protect, raising", raising Mutex.protect);
       ( "Mutex.protect, others come",
         fun t ->
           Mutex.protect t (fun () ->
               arrive [ locks; refuses_to_lock; locks ] t) );
     ]
    @ trying
    @ as_event "Mutex.lock" (unit Mutex.lock_evt))
  @ in_state "held" (mutex ~held:true) (trying @ unlocking)
  @ in_state "others wait"
      (mutex ~held:true ~waiting:[ refuses_to_lock; locks; locks ])
      unlocking
  @ in_state "a thread waits" thread_waits unlocking
  @ in_state "only some that refuse"
      (mutex ~held:true ~waiting:[ refuses_to_lock; refuses_to_lock ])
      unlocking

(* --- Semaphores --------------------------------------------------------------------- *)

module Semaphores (S : sig
  type t

  val operation : string -> string
  val make : bool -> t
  val acquire : t -> unit
  val try_acquire : t -> bool
  val release : t -> unit
  val acquire_evt : t -> unit Event.t
  val waiters : t -> int
  val with_permit : t -> (unit -> 'a) -> 'a
  val try_with_permit : t -> (unit -> 'a) -> 'a option
end) =
struct
  let acquires = waits S.acquire
  let refuses = refuses S.acquire_evt

  let semaphore ?waiting ?wake available perform =
    let rec permits t = if S.try_acquire t then 1 + permits t else 0 in
    let left t =
      let permits = permits t in
      S.release t;
      permits :: flag (S.try_acquire t)
    in
    let use t =
      S.with_permit t ignore;
      0
    in
    around (S.make available) ?waiting ?wake ~beside:use ~waiters:S.waiters
      ~left perform

  let cases =
    let operation what = "Semaphore." ^ S.operation what in
    let releasing = [ (operation "release", silent S.release) ]
    and trying =
      [
        (operation "try_acquire", fun t -> flag (S.try_acquire t));
        ( operation "try_with_permit",
          fun t -> Option.value (S.try_with_permit t nothing) ~default:[ none ]
        );
      ]
    in
    in_state "free" (semaphore true)
      ([
         (operation "acquire", silent S.acquire);
         (operation "with_permit", fun t -> S.with_permit t nothing);
         (operation "with_permit" ^ ", raising", raising S.with_permit);
         ( operation "try_with_permit" ^ ", raising",
           raising (fun t f -> Option.get (S.try_with_permit t f)) );
         ( operation "try_with_permit" ^ ", others come",
           fun t ->
             Option.get
               (S.try_with_permit t (fun () ->
                    arrive [ acquires; refuses; acquires ] t)) );
         ( operation "with_permit" ^ ", others come",
           fun t ->
             S.with_permit t (fun () ->
                 arrive [ acquires; refuses; acquires ] t) );
       ]
      @ trying
      @ as_event (operation "acquire") (unit S.acquire_evt))
    @ in_state "it waits"
        (semaphore false ~wake:S.release)
        [ (operation "with_permit", fun t -> S.with_permit t nothing) ]
    @ in_state "none left" (semaphore false) (trying @ releasing)
    @ in_state "others wait"
        (semaphore false ~waiting:[ refuses; acquires; acquires ])
        releasing
    @ in_state "only some that refuse"
        (semaphore false ~waiting:[ refuses; refuses ])
        releasing
end

module Counting = Semaphores (struct
  include Semaphore.Counting

  let operation what = "Counting." ^ what
  let make available = make (Bool.to_int available)
end)

(* With several permits, [release] takes its general step and not the fast path. *)
module Several = Semaphores (struct
  include Semaphore.Counting

  let operation what = "Counting." ^ what
  let make available = make (if available then 3 else 0)
end)

(* Each operation takes three permits, and there is one more. *)
module At_once = Semaphores (struct
  open Semaphore.Counting

  type nonrec t = t

  let operation = function
    | ("with_permit" | "try_with_permit") as what -> "Counting." ^ what ^ "s"
    | what -> "Counting." ^ what ^ "_n"

  let make available = make (if available then 4 else 1)
  let acquire t = acquire_n t 3
  let try_acquire t = try_acquire_n t 3
  let release t = release_n t 3
  let acquire_evt t = acquire_n_evt t 3
  let waiters = waiters
  let with_permit t f = with_permits t 3 f
  let try_with_permit t f = try_with_permits t 3 f
end)

module Binary = Semaphores (struct
  include Semaphore.Binary

  let operation what = "Binary." ^ what
end)

let of_several =
  in_state "three are free" (Several.semaphore true)
    [
      ( "Semaphore.Counting.with_permit",
        fun t -> Semaphore.Counting.with_permit t nothing );
      ("Semaphore.Counting.release", silent Semaphore.Counting.release);
    ]

(* --- Rwlock ---------------------------------------------------------------------------- *)

type holder = Nobody | Reader | Writer

let reads = waits Rwlock.read_lock
let writes = waits Rwlock.write_lock
let refuses_to_read = refuses Rwlock.read_lock_evt
let refuses_to_write = refuses Rwlock.write_lock_evt

(* Returns the number of readers, or a hundred for a writer, and unlocks. *)
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

let rwlock ?prefer ?(held = Nobody) ?(wakes = false) ?waiting perform =
  let t = Rwlock.create ?prefer () in
  let lock, unlock =
    match held with
    | Nobody -> (ignore, ignore)
    | Reader -> Rwlock.(read_lock, read_unlock)
    | Writer -> Rwlock.(write_lock, write_unlock)
  in
  lock t;
  let left t =
    let held = take_back t in
    held :: flag (Rwlock.try_read_lock t)
  in
  let use t =
    Rwlock.read t ignore;
    0
  in
  let wake = if wakes then Some unlock else None in
  around t ?waiting ?wake ~beside:use ~waiters:Rwlock.waiters ~left perform

let rwlocks =
  let tries =
    [
      ("Rwlock.try_read_lock", fun t -> flag (Rwlock.try_read_lock t));
      ("Rwlock.try_write_lock", fun t -> flag (Rwlock.try_write_lock t));
    ]
  and reading =
    ("Rwlock.read_lock", silent Rwlock.read_lock)
    :: as_event "Rwlock.read_lock" (unit Rwlock.read_lock_evt)
  and read_unlock = ("Rwlock.read_unlock", silent Rwlock.read_unlock)
  and write_unlock = ("Rwlock.write_unlock", silent Rwlock.write_unlock)
  and end_write = ("Rwlock.end_write", silent Rwlock.end_write)
  and downgrade = ("Rwlock.downgrade", silent Rwlock.downgrade)
  and crowd =
    [ refuses_to_write; reads; refuses_to_read; reads; writes; reads ]
  in
  let of_preference what prefer =
    in_state ("free" ^ what) (rwlock ?prefer)
      ([
         ("Rwlock.write_lock", silent Rwlock.write_lock);
         ("Rwlock.read", fun t -> Rwlock.read t nothing);
         ("Rwlock.write", fun t -> Rwlock.write t nothing);
         ("Rwlock.read, raising", raising Rwlock.read);
         ("Rwlock.write, raising", raising Rwlock.write);
         ( "Rwlock.write, downgraded",
           fun t ->
             Rwlock.write t (fun () ->
                 Rwlock.downgrade t;
                 nothing ()) );
         ( "Rwlock.write, downgraded, others come",
           fun t ->
             Rwlock.write t (fun () ->
                 Rwlock.downgrade t;
                 arrive [ refuses_to_write; writes; reads; refuses_to_read ] t)
         );
         ( "Rwlock.read, others come",
           fun t ->
             Rwlock.read t (fun () ->
                 arrive [ refuses_to_write; writes; reads; refuses_to_read ] t)
         );
         ( "Rwlock.write, others come",
           fun t -> Rwlock.write t (fun () -> arrive crowd t) );
       ]
      @ reading @ tries
      @ as_event "Rwlock.write_lock" (unit Rwlock.write_lock_evt))
    @ in_state ("a writer has it" ^ what)
        (rwlock ?prefer ~held:Writer ~wakes:true)
        (unless_polled reading)
    @ in_state
        ("held by a writer" ^ what)
        (rwlock ?prefer ~held:Writer)
        (write_unlock :: end_write :: downgrade :: tries)
    @ in_state
        ("held by a reader" ^ what)
        (rwlock ?prefer ~held:Reader)
        (read_unlock :: end_write :: tries)
    @ in_state ("others wait" ^ what)
        (rwlock ?prefer ~held:Writer ~waiting:crowd)
        [ write_unlock; end_write; downgrade ]
    @ in_state
        ("others read and write" ^ what)
        (rwlock ?prefer ~held:Writer
           ~waiting:[ refuses_to_read; reads; reads; writes; reads ])
        [ downgrade ]
    @ in_state ("others wait" ^ what)
        (rwlock ?prefer ~held:Reader
           ~waiting:[ refuses_to_write; writes; reads; writes ])
        [ read_unlock; end_write ]
    @ in_state
        ("others wait behind a writer that refuses" ^ what)
        (rwlock ?prefer ~held:Reader
           ~waiting:[ refuses_to_write; reads; reads ])
        (read_unlock :: tries)
  in
  of_preference "" None @ of_preference ", writers first" (Some `Writers)

(* --- Latch ----------------------------------------------------------------------------- *)

let latch ?waiting ?(count = 1) perform =
  let left t =
    let next = waits Latch.await t in
    while not (Latch.is_open t) do
      Latch.count_down t
    done;
    [ next () ]
  in
  let come t =
    Latch.await t;
    0
  in
  around (Latch.create count) ?waiting ~beside:come ~waiters:Latch.waiters ~left
    perform ~before:(fun t -> [ Latch.count t ])

let latches =
  let awaits = waits Latch.await and refuses = refuses Latch.await_evt in
  let waiting = [ awaits; refuses; awaits; awaits ]
  and counting =
    [
      ("Latch.count_down", silent Latch.count_down);
      ("Latch.count_up", silent Latch.count_up);
    ]
  in
  in_state "of two" (latch ~count:2 ~waiting) counting
  @ in_state "the last one" latch counting
  @ in_state "the last one, others wait" (latch ~waiting) counting
  @ in_state "open" (latch ~count:0)
      (("Latch.await", silent Latch.await)
      :: as_event "Latch.await" (unit Latch.await_evt))

(* --- Condition ------------------------------------------------------------------------- *)

let waits_alone = waits Condition.wait_no_mutex
let refuses_alone = refuses Condition.wait_no_mutex_evt

let one_signal t =
  let finish = waits_alone t in
  Condition.signal t;
  [ finish () ]

(* The caller holds the mutex before and after. *)
let condition ?wake perform =
  let t = Condition.create () and m = Mutex.create () in
  Mutex.lock m;
  let before _ = Mutex.waiters m :: flag (Mutex.is_locked m) in
  let left _ =
    if Mutex.is_locked m then Mutex.unlock m;
    one_signal t
  in
  around (t, m) ?wake ~remembers:false ~before ~left perform
    ~beside:(fun (_, m) -> use_mutex m)
    ~waiters:(fun (t, _) -> Condition.waiters t)

let by wake (t, _) = wake t

(* A task that is woken has to wait for the mutex. *)
let with_the_mutex (t, m) =
  let has_it = Mutex.try_lock m in
  Condition.broadcast t;
  Thread.yield ();
  if has_it then Mutex.unlock m

let signalled ?waiting perform =
  around (Condition.create ()) ?waiting ~waiters:Condition.waiters
    ~left:one_signal perform

let waits_with_mutex t =
  let m = Mutex.create () in
  come (fun () ->
      Mutex.protect m (fun () -> Condition.wait t m);
      1)

let looks t =
  let looks = ref 0 in
  come (fun () ->
      Condition.loop_no_mutex t (fun () ->
          incr looks;
          if !looks > 1 then Some 1 else None))

(* Another task that takes items begins to wait, then an item and a signal come. This
   happens while the first task waits, or while it looks and finds nothing. *)
let taken ~as_it_looks perform =
  let t = Condition.create () and items = Atomic.make 0 in
  let take () =
    match Atomic.get items with
    | 0 -> None
    | n ->
        Atomic.set items (n - 1);
        Some [ n ]
  in
  let comes () =
    arrived := [ waits (fun t -> ignore (Condition.loop_no_mutex t take)) t ];
    Atomic.incr items;
    Condition.signal t
  in
  let has_come = ref false in
  let look () =
    if !has_come then take ()
    else begin
      has_come := true;
      Moments.unwatched comes;
      None
    end
  in
  let waiters _ = Condition.waiters t
  and left _ = Atomic.get items :: one_signal t in
  if as_it_looks then
    around (t, look) ~parts:[ (fun _ -> comes ()) ] ~waiters ~left perform
  else
    around (t, take)
      ~wake:(fun _ -> comes ())
      ~remembers:false ~waiters ~left perform

(* The task finds its item only when it is in the queue. During that look it is signalled
   and others come to wait behind it, so it has to pass the signal on. *)
let passes_on t () =
  if Condition.waiters t = 0 then None
  else
    Moments.unwatched (fun () ->
        let waiting =
          [ refuses_alone; refuses_alone; refuses_alone; waits_alone ]
        in
        ignore (arrive waiting t : int list);
        Condition.signal t;
        Some [])

let conditions =
  let waiting =
    ("Condition.wait", fun (t, m) -> silent (Condition.wait t) m)
    :: unless_polled
         (as_event "Condition.wait" (fun (t, m) ->
              Event.wrap (Condition.wait_evt t m) nothing))
  and wakes =
    [
      ("Condition.signal", silent Condition.signal);
      ("Condition.broadcast", silent Condition.broadcast);
    ]
  and looping f =
    ("Condition.loop_no_mutex", fun t -> Condition.loop_no_mutex t (f t))
    :: as_event "Condition.loop_no_mutex" (fun t ->
        Condition.loop_no_mutex_evt t (f t))
  and taking =
    ("Condition.loop_no_mutex", fun (t, f) -> Condition.loop_no_mutex t f)
    :: unless_polled
         (as_event "Condition.loop_no_mutex" (fun (t, f) ->
              Condition.loop_no_mutex_evt t f))
  and in_vain t = Condition.loop_no_mutex_evt t (fun () -> None) in
  in_state "signal" (condition ~wake:(by Condition.signal)) waiting
  @ in_state "broadcast" (condition ~wake:(by Condition.broadcast)) waiting
  @ in_state "woken by a task that holds the mutex"
      (condition ~wake:with_the_mutex)
      waiting
  @ in_state "no task waits" signalled
      (wakes
      @ looping (fun _ () -> Some [])
      @ [
          ( "Condition.loop_no_mutex_evt, another is chosen",
            fun t -> Event.sync (Event.prefer [ in_vain t; Event.always [] ]) );
          ( "Condition.loop_no_mutex_evt, polled in vain",
            fun t -> Option.value (Event.poll (in_vain t)) ~default:[] );
        ])
  @ in_state "signalled, another waits" (taken ~as_it_looks:false) taking
  @ in_state "signalled as it looks in vain, another waits"
      (taken ~as_it_looks:true) taking
  @ in_state "signalled as it looks, others wait" signalled (looping passes_on)
  @ in_state "others wait"
      (signalled
         ~waiting:
           [
             refuses_alone;
             waits_alone;
             waits_with_mutex;
             refuses_alone;
             looks;
             waits_alone;
           ])
      wakes

let cases =
  List.concat
    [
      mutexes;
      Counting.cases;
      of_several;
      At_once.cases;
      Binary.cases;
      rwlocks;
      latches;
      conditions;
    ]
