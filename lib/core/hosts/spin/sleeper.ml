type t = { thread : int; asleep : bool Atomic.t }

let make thread = { thread; asleep = Atomic.make false }
let never = make (-1)
let is_asleep t = Atomic.get t.asleep

(* The threads, by their numbers. If two threads share a slot, each replaces the other's entry.
   The one without an entry then seems to be awake. *)
let slots = 256
let threads = Array.init slots (fun _ -> Atomic.make never)

(* Has any thread ever slept? *)
let some_sleep = Atomic.make false

let find () =
  let thread = Thread.id (Thread.self ()) in
  let slot = threads.(thread land (slots - 1)) in
  let t = Atomic.get slot in
  if t.thread = thread then t
  else begin
    let t = make thread in
    Atomic.set slot t;
    t
  end

let[@inline] mine () = if Atomic.get some_sleep then find () else never
let now_ns () = Int64.to_int (Mtime_clock.elapsed_ns ())

let while_asleep f =
  let t = find () in
  if not (Atomic.get some_sleep) then Atomic.set some_sleep true;
  Atomic.set t.asleep true;
  Backtrace.finally f ~finally:(fun () -> Atomic.set t.asleep false)
