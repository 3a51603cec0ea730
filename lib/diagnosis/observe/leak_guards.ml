let () =
  if Debugging.has "leaks" then begin
    Debug_frames.load ();
    Observer.(start leaks)
  end

(* This doesn't write to the channel [stderr], because the finaliser may run in a thread that
   has locked it. A report that can't be written is dropped, but the task is resumed in any
   case. *)
let report what waits_at =
  let text =
    Printf.sprintf "concord: %s. The task waits here:\n%s" what
      (Printexc.raw_backtrace_to_string waits_at)
  in
  try
    ignore (Unix.write_substring Unix.stderr text 0 (String.length text) : int)
  with Unix.Unix_error _ -> ()

type 'a guard = {
  guard : 'a Concord_suspend.resumer;
  resumed : bool Atomic.t;
  waits_at : Printexc.raw_backtrace;
}

(* --- Waits that are new ---------------------------------------------------------

   A finaliser for each wait would cost more than the wait. It runs only in the domain that
   made it, which may be asleep, and the minor collector keeps each value with a finaliser.
   Most waits are short. So a wait is added to [fresh], which keeps it alive, and [watch] makes
   finalisers for those that still wait then.

   Each domain has a list, unless there are more domains than lists. The newest wait is first.
   When a list is longer than [limit], the waits that are over are dropped. [limit] is twice the
   number that was left the last time. *)
type any = Any : 'a guard -> any
type fresh = { all : any list; length : int; limit : int }

let least = 100
let none = { all = []; length = 0; limit = least }
let fresh = Array.init 64 (fun _ -> Atomic.make none)
let still_waits (Any { resumed; _ }) = not (Atomic.get resumed)

let add any { all; length; limit } =
  let all = any :: all and length = length + 1 in
  if length <= limit then { all; length; limit }
  else
    let all = List.filter still_waits all in
    let length = List.length all in
    { all; length; limit = Int.max least (2 * length) }

let guard waits_at resumer =
  let waits_at = waits_at () and resumed = Atomic.make false in
  let guard outcome =
    resumer outcome
    && begin
      if Atomic.exchange resumed true then
        report "a resumer of a task returned true twice, but H3 allows it once"
          waits_at;
      true
    end
  in
  let number = (Domain.self () :> int) mod Array.length fresh in
  Atomically.update fresh.(number) (add (Any { guard; resumed; waits_at }));
  guard

(* --- Waits that the collector watches ------------------------------------------- *)

(* The reports that are about to be written. The resumed task may end the program first. *)
let unwritten = Atomic.make 0

let () =
  at_exit (fun () ->
      let tries = ref 1_000 in
      while Atomic.get unwritten > 0 && !tries > 0 do
        decr tries;
        Thread.delay 0.001
      done)

(* Only [guard] decides whether the task still waits. *)
let give_up guard waits_at =
  ignore (Atomic.fetch_and_add unwritten 1 : int);
  Backtrace.finally ~finally:(fun () ->
      (* unbroken *) ignore (Atomic.fetch_and_add unwritten (-1) : int))
  @@ fun () ->
  if guard (Error Leaks.Never_resumed) then
    report
      "nothing can resume this task any longer, because its resumer was \
       garbage-collected"
      waits_at

(* The finaliser gets the guard as its argument, and its closure must not refer to the guard.
   Otherwise the finaliser would keep it alive, and with it the task, which may keep the guard
   alive. The finaliser may run in any thread, so it does only what a resumer may do. *)
let finalise (Any { guard; resumed; waits_at }) =
  Gc.finalise
    (fun guard -> if not (Atomic.get resumed) then give_up guard waits_at)
    guard

let watch_list count list =
  let { all; _ } = Atomic.exchange list none in
  let waiting = List.filter still_waits all in
  List.iter finalise waiting;
  count + List.length waiting

let watch () = Array.fold_left watch_list 0 fresh

let collect () =
  ignore (watch () : int);
  Gc.full_major ()

let lost waits_at =
  report
    "nothing can resume this task any longer, because no other thread is left"
    (waits_at Leaks.max_frames)
