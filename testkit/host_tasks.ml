open Concord
open Concord.Tools
open Host_signature

type clause = {
  name : string;
  about : string;
  read : string;
  optional : bool;
  cases : Trial.case list;
}

let caught f =
  match f () with
  | v -> Ok v
  | exception e -> Error (e, Printexc.get_raw_backtrace ())

let released = function
  | Ok v -> v
  | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

type running = {
  spawn : (unit -> unit) -> unit -> unit;
      (* returns a function that cancels the task *)
  yield : unit -> unit;
}

let in_task (module H : HOST) f =
  let outcome = Atomic.make None in
  let spawn t f =
    let task = H.spawn t f in
    fun () -> Option.iter (fun cancel -> cancel t task) H.cancel
  in
  H.run (fun t ->
      let running = { spawn = spawn t; yield = H.yield } in
      Atomic.set outcome (Some (caught (fun () -> f running))));
  match Atomic.get outcome with
  | Some outcome -> released outcome
  | None -> Trial.fail "run returned before its first task had ended"

type 'a forked = { ended : 'a Promise.t; cancel : unit -> unit }

let fork t f =
  let ended = Promise.create () in
  let body () =
    match f () with
    | v -> Promise.fill ended v
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Promise.fail ~backtrace ended e
  in
  { ended; cancel = t.spawn body }

let needs_cancellation (module H : HOST) =
  if Option.is_none H.cancel then
    raise (Trial.Not_offered "the host cannot cancel tasks")

let pause () = Unix.sleepf 0.00005

let rec poll condition =
  if not (condition ()) then begin
    pause ();
    poll condition
  end

let rec until t condition =
  if not (condition ()) then begin
    t.yield ();
    pause ();
    until t condition
  end

(* A wait with an end isn't a hang. *)
let before_deadline wait seconds condition =
  let deadline = Unix.gettimeofday () +. seconds in
  let next_pulse = ref 0. in
  let is_over () =
    let now = Unix.gettimeofday () in
    if now > !next_pulse then begin
      next_pulse := now +. 0.2;
      Trial.alive ()
    end;
    condition () || now > deadline
  in
  wait is_over;
  condition ()

let poll_for seconds condition = before_deadline poll seconds condition
let until_for t seconds condition = before_deadline (until t) seconds condition
let patience = 4.

let watched f stuck =
  let over = Atomic.make false in
  let is_over () = Atomic.get over in
  let watch () = if not (poll_for patience is_over) then stuck is_over in
  let thread = Thread.create watch () in
  let outcome = caught f in
  Atomic.set over true;
  Thread.join thread;
  released outcome

let spin n =
  for _ = 1 to n do
    Domain.cpu_relax ()
  done

let soon condition =
  let looks = ref 0 in
  while !looks < 100_000 && not (condition ()) do
    Domain.cpu_relax ();
    incr looks
  done;
  poll condition

let guarded f () = try f () with e -> Trial.abort e

let beside other f =
  let domain = Domain.spawn (guarded other) in
  let v = f () in
  Domain.join domain;
  v

let in_thread f = Thread.join (Thread.create (guarded f) ())
let self () = Thread.id (Thread.self ())

type 'a post = 'a Suspend.resumer option Atomic.t

let post () = Atomic.make None
let is_empty post = Option.is_none (Atomic.get post)
let put post resumer = Atomic.set post (Some resumer)
let peek post = Option.get (Atomic.get post)

let wait_in post =
  Suspend.suspend (fun resumer ->
      put post resumer;
      None)

let take post = Atomic.exchange post None

let collect post =
  poll (fun () -> not (is_empty post));
  Option.get (take post)
