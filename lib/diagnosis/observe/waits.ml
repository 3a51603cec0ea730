let max_frames = 100

(* The states of [state] of one wait

   State    Left by      To       By whom
   Not_yet  was_resumed  Resumed  the caller of the resumer, even while [block] still runs
            began        Waiting  the task, after it has left its resumer in the structure
            ended        Over     the task, which didn't have to wait, or was refused
   Waiting  was_resumed  Resumed  the caller of the resumer
            ended        Over     the task, whose wait has raised
   Resumed  ended        Over     the task, when its host continues it
   Over     never (terminal)

   [ended] is one store, so it is unbroken. *)
type state = Not_yet | Waiting | Resumed | Over

type t = {
  number : int;
  who : Who.t;
  begun_ns : int64;
  mutable resumed_ns : int64;
  waits_at : Printexc.raw_backtrace;
  targets : Target.t list;
  state : state Atomic.t;
  process : int;
}

let keep () =
  if not (Observer.are_kept ()) then Debug_frames.load ();
  Observer.(start waits)

let () = if Debugging.has "waits" then keep ()

(* The newest is first. When the list is longer than [limit], the waits that are over are
   dropped. [limit] is twice the number that was left the last time. *)
type waits = { all : t list; length : int; limit : int }

let least = 100
let waits = Atomic.make { all = []; length = 0; limit = least }
let last_number = Atomic.make 0

let is_over t =
  match Atomic.get t.state with
  | Over -> true
  | Not_yet | Waiting | Resumed -> false

let add_to { all; length; limit } t =
  let all = t :: all and length = length + 1 in
  if length <= limit then { all; length; limit }
  else
    let all = List.filter (fun t -> not (is_over t)) all in
    let length = List.length all in
    { all; length; limit = Int.max least (2 * length) }

let add t = Atomically.update waits (fun before -> add_to before t)

(* The child of a fork doesn't have the other threads of its parent, so their waits are left
   out. It does have the tasks of the loop that forked. *)
let of_state wanted =
  let process = Unix.getpid () in
  let is_here t = t.who.host <> "" || t.process = process in
  (Atomic.get waits).all
  |> List.filter (fun t -> Atomic.get t.state = wanted && is_here t)
  |> List.sort (fun a b -> Int.compare a.number b.number)

let all () = of_state Waiting
let resumed () = of_state Resumed
let begun () = Atomic.get last_number

(* A task of a loop has 0, because the system call would take a fifth of the time of noting a
   wait. *)
let process_of (who : Who.t) = if who.host = "" then Unix.getpid () else 0

(* --- One wait ---------------------------------------------------------------- *)

let make who targets =
  {
    number = Atomic.fetch_and_add last_number 1;
    who;
    begun_ns = Mtime_clock.now_ns ();
    resumed_ns = 0L;
    waits_at = Printexc.get_callstack max_frames;
    targets;
    state = Atomic.make Not_yet;
    process = process_of who;
  }

let ended t = Atomic.set t.state Over
let began t = ignore (Atomic.compare_and_set t.state Not_yet Waiting : bool)

(* The states are tried in this order, because no transition leads back to [Not_yet]. *)
let was_resumed t now =
  t.resumed_ns <- now;
  ignore
    (Atomic.compare_and_set t.state Not_yet Resumed
     || Atomic.compare_and_set t.state Waiting Resumed
      : bool)

(* Unbroken: [resumer] is called in any case, and its answer is returned. Otherwise the task would
   not be resumed, or the caller would not know it. The thread's next wait raises an exception that
   comes meanwhile. *)
let watch t resumer outcome =
  let now =
    try Mtime_clock.now_ns ()
    with e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      t.begun_ns
  in
  resumer outcome
  && begin
    was_resumed t now;
    true
  end

let block t block resumer =
  let found = block (watch t resumer) in
  if Option.is_none found then began t;
  found

(* --- Who runs --------------------------------------------------------------- *)

type running = {
  thread : int;
  on_domain : int;
  task : Who.t;
  since : int64;
  waited_at : Printexc.raw_backtrace;
  has_waited : bool;
}

module Threads = Map.Make (Int)

(* For each thread, the task that continued there last, if it has not begun to wait since. If
   there are more than [most_running], the oldest entry is dropped, because its thread may have
   ended. *)
let running_ : running Threads.t Atomic.t = Atomic.make Threads.empty
let most_running = 256
let running () = List.map snd (Threads.bindings (Atomic.get running_))
let this_thread () = Thread.id (Thread.self ())

let without_oldest all =
  if Threads.cardinal all < most_running then all
  else
    let older _ a b = if Int64.compare a.since b.since < 0 then a else b in
    let first = snd (Threads.min_binding all) in
    Threads.remove (Threads.fold older all first).thread all

let stops_running () =
  let thread = this_thread () in
  if Threads.mem thread (Atomic.get running_) then
    Atomically.update running_ (Threads.remove thread)

let runs_here task ~waited_at ~has_waited =
  let thread = this_thread () and on_domain = (Domain.self () :> int) in
  let since = Mtime_clock.now_ns () in
  let task = { thread; on_domain; task; since; waited_at; has_waited } in
  Atomically.update running_ (fun all ->
      Threads.add thread task (without_oldest (Threads.remove thread all)))

(* Unbroken, because the task already has its value. The thread's next wait raises the
   exception. *)
let runs { who; waits_at; _ } =
  try runs_here who ~waited_at:waits_at ~has_waited:true
  with e ->
    Late.keep e (Printexc.get_raw_backtrace ());
    ()

(* If the task has waited since it began, it may be another one that continued last here. *)
let stops who =
  let thread = this_thread () in
  let is_it { task; _ } = Who.same task who in
  let stop = function
    | Some running when is_it running -> None
    | other -> other
  in
  try
    if Threads.mem thread (Atomic.get running_) then
      Atomically.update running_ (Threads.update thread stop)
  with e ->
    Late.keep e (Printexc.get_raw_backtrace ());
    ()

(* Unbroken, because other tasks may wait for the result of [f]. There is no polling point
   between the first [match] and the call of [f]. *)
let from_begin ~forked_at ~ask f =
  match
    let who = ask () in
    runs_here who ~waited_at:forked_at ~has_waited:false;
    who
  with
  | who -> (
      match f () with
      | v ->
          stops who;
          v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          stops who;
          Printexc.raise_with_backtrace e backtrace)
  | exception e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      Sys.opaque_identity (f ())

let during ~who targets suspend block_ =
  Late.raise_kept ();
  let t = make who targets in
  match
    stops_running ();
    add t;
    suspend (fun resumer -> block t block_ resumer)
  with
  | v ->
      ended t;
      runs t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ended t;
      runs t;
      Printexc.raise_with_backtrace e backtrace

(* --- Operations without a stack ----------------------------------------------- *)

let operation ~host target block_ =
  let who = { (Who.unknown host) with name = "an operation" } in
  let t = make who [ target ] in
  let block resumer =
    let found = block_ (watch t resumer) in
    (* Unbroken, because the resumer is in the structure. *)
    (if Option.is_none found then
       try
         add t;
         began t
       with e -> Late.keep e (Printexc.get_raw_backtrace ()));
    found
  in
  (block, fun () -> ended t)
