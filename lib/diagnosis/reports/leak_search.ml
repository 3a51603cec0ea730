(* A full collection takes milliseconds, or seconds in a large heap, so threads that sleep often
   must not collect each time. After one that took [t], the next one is due [pause] times [t]
   later. A thread that sleeps before then is added to [asleep]. The finaliser of a guard runs
   only in the domain that made it. So the searching thread wakes one sleeping thread of each
   domain when a collection is due, and that thread collects before it sleeps again. When each
   sleeping thread has done so once, the program is quiet until a thread has run and sleeps again.

   [due], the time of the next collection

   Left by        To        By whom
   a time         [never]   the thread that collects, if the time has come or it was woken for it
   [never]        a time    the same, after the collection *)
let pause = 30
let never = max_int
let due = Atomic.make 0

type sleeper = {
  domain : int;
  thread : int;
  is_over : unit -> bool;
  wake : unit -> unit;
}

(* The newest is first. When the list is longer than [limit], those that are over are dropped.
   [limit] is twice the number that was left the last time. *)
type asleep = { all : sleeper list; length : int; limit : int }

let least = 100
let none = { all = []; length = 0; limit = least }
let asleep = Atomic.make none

(* The threads that were woken to collect, by their numbers. *)
let woken : int list Atomic.t = Atomic.make []
let now_ns () = Int64.to_int (Mtime_clock.now_ns ())
let this_thread () = Thread.id (Thread.self ())

let collect () =
  let began = now_ns () in
  Backtrace.finally Leaks.collect ~finally:(fun () ->
      let ended = now_ns () in
      Atomic.set due (ended + (pause * (ended - began))))

let is_due () =
  let at = Atomic.get due in
  now_ns () >= at && Atomic.compare_and_set due at never

let was_woken () =
  let thread = this_thread () in
  List.mem thread (Atomic.get woken)
  && begin
    Atomically.update woken (List.filter (fun other -> other <> thread));
    true
  end

let add sleeper { all; length; limit } =
  let all = sleeper :: all and length = length + 1 in
  if length <= limit then { all; length; limit }
  else
    let all = List.filter (fun { is_over; _ } -> not (is_over ())) all in
    let length = List.length all in
    { all; length; limit = Int.max least (2 * length) }

(* --- The searching thread ----------------------------------------------------- *)

let one_of_each_domain sleepers =
  let add found sleeper =
    let is_same other = other.domain = sleeper.domain in
    if List.exists is_same found || sleeper.is_over () then found
    else sleeper :: found
  in
  List.fold_left add [] sleepers

let wake sleeper =
  Atomically.update woken (List.cons sleeper.thread);
  sleeper.wake ()

let search () =
  let { all; _ } = Atomic.exchange asleep none in
  let chosen = one_of_each_domain all in
  let others =
    List.filter (fun sleeper -> not (List.memq sleeper chosen)) all
  in
  Atomically.update asleep (fun newer -> List.fold_right add others newer);
  List.iter wake chosen

let least_pause_ns = 20_000_000

let rec serve () =
  let left = Int.min (Atomic.get due - now_ns ()) 1_000_000_000 in
  Thread.delay (float (Int.max least_pause_ns left) *. 1e-9);
  (try if now_ns () >= Atomic.get due then search () with _ -> ());
  serve ()

(* The child of a fork has no searching thread, so its threads collect each time. *)
let served_in = Atomic.make 0

let start () =
  Debug_helpers.start serve;
  Atomic.set served_in (Unix.getpid ())

let is_served () = Atomic.get served_in = Unix.getpid ()

let before_sleep ~is_over ~wake =
  if was_woken () || is_due () || not (is_served ()) then collect ()
  else
    let domain = (Domain.self () :> int) and thread = this_thread () in
    Atomically.update asleep (add { domain; thread; is_over; wake })
