(* Barriers, and a description of them. When the last party arrives, the barrier asks all
   waiters. If one refuses, the others were asked in vain. Each of them is away until its
   task comes back or gives up. *)

open Compared
module Check = Concord_test_support.Check

type role = Task | Event
type op = Poll | Come_back | Give_up

let initial = function Task -> Barrier.Stays | Event -> Barrier.Leaves

let real parties how ~log =
  let t = Barrier.create parties and waiters = waiters log in
  (* The waiters that accepted and whose tasks haven't run yet, in this order. *)
  let asked = ref [] in
  let enlist arrival number answer =
    let show trial =
      if answer <> Refuses then
        asked := !asked @ [ (arrival, trial, number, answer) ];
      "asked"
    in
    enlist waiters Barrier.awaiting show t arrival number answer
  in
  let is_away ((arrival : Barrier.arrival), _, _, _) =
    Atomic.get arrival.slot.arg = Barrier.Away
  in
  (* Applies [act] to the first waiter that was asked in vain. *)
  let away act =
    asked := List.filter is_away !asked;
    match !asked with
    | [] -> "no waiter is away"
    | first :: others ->
        asked := others;
        act first
  in
  let act op _ =
    match (op, how) with
    | Poll, Publicly ->
        string_of_bool (Concord.Event.poll (Barrier.await_evt t) = Some ())
    | Poll, _ ->
        (* With two parties, the step may have to wait although it began. *)
        let how = if parties = 2 then By_attempt else how in
        string_of_bool (perform how t.state Barrier.await_step t = Some true)
    | Come_back, _ ->
        (* An exception that comes too late for the task is kept for its next wait. Raise it
           here. *)
        away (fun (arrival, _, number, answer) ->
            let waits = enlist arrival number answer in
            Late.raise_kept ();
            string_of_bool waits)
    | Give_up, _ ->
        away (fun ((arrival : Barrier.arrival), trial, _, _) ->
            arrival.accepted <- trial;
            unit (Barrier.leave arrival))
  and look () =
    let { Barrier.arrived; away; trying; slots } = Atomic.get t.state in
    Printf.sprintf "%d have arrived, %d away%s, %d wait" arrived away
      (if trying then ", trying" else "")
      (Waiters.length slots)
  in
  {
    act;
    enlist = (fun role -> enlist (Barrier.arrival t (initial role)));
    withdraw = withdraw waiters;
    look;
  }

(* A slot stays in the queue until its round has passed, or its waiter has refused or
   withdrawn. *)
type slot = { waiter : role waiter; mutable is_away : bool }

let expected parties ~log =
  let q = ref [] in
  let remove slot = q := List.filter (fun other -> other != slot) !q in
  let rec ask missing accepted = function
    | slot :: others when missing > 0 ->
        if resume log slot.waiter "asked" then
          ask (missing - 1) (slot :: accepted) others
        else begin
          remove slot;
          ask missing accepted others
        end
    | _ -> (missing = 0, List.rev accepted)
  in
  let is_ready given =
    List.length !q + given >= parties
    && not (List.exists (fun slot -> slot.is_away) !q)
  in
  let rec try_out given =
    let has_passed, accepted = ask (parties - given) [] !q in
    List.iter
      (fun slot ->
        if has_passed || slot.waiter.role = Event then remove slot
        else slot.is_away <- true)
      accepted;
    settle ();
    has_passed
  and settle () = if is_ready 0 then ignore (try_out 0 : bool) in
  let away act =
    match List.find_opt (fun slot -> slot.is_away) !q with
    | None -> "no waiter is away"
    | Some slot ->
        slot.is_away <- false;
        let result = act slot in
        settle ();
        result
  in
  let act op _ =
    match op with
    | Poll -> string_of_bool (is_ready 1 && try_out 1)
    | Come_back -> away (fun _ -> "true")
    | Give_up -> away (fun slot -> unit (remove slot))
  and enlist role number answer =
    (not (is_ready 1))
    && begin
      let waiter = { role; number; answer } in
      q := !q @ [ { waiter; is_away = false } ];
      true
    end
  and withdraw number =
    q := List.filter (fun slot -> slot.waiter.number <> number) !q;
    settle ()
  and look () =
    let all = List.length !q in
    let away = List.length (List.filter (fun slot -> slot.is_away) !q) in
    Printf.sprintf "%d have arrived, %d away, %d wait" all away all
  in
  Compared.expected { act; enlist; withdraw; look }

let barrier parties =
  Structure
    {
      name = Printf.sprintf "Barrier of %d" parties;
      ops = [| Poll; Come_back; Come_back; Come_back; Give_up |];
      roles = [| Task; Task; Event |];
      make = (function Expected -> expected parties | how -> real parties how);
    }

let all = List.map barrier [ 2; 3; 5 ]

(* --- A handler raises at each allocation ----------------------------------------- *)

type task = {
  arrival : Barrier.arrival;
  mutable waiter : (Barrier.arrival, Trial.t) Waiter.t;
  mutable asked : int;
}

(* The resumer allocates nothing, so no handler can raise before it has decided. *)
let come ?(accepts = true) t task =
  task.waiter <- Waiter.make task.arrival;
  task.waiter.resumer <-
    (fun outcome ->
      task.asked <- task.asked + 1;
      (match outcome with
      | Ok trial when accepts -> task.arrival.accepted <- trial
      | Ok _ | Error _ -> ());
      accepts);
  Operation.enlist Barrier.awaiting t task.waiter

let task t =
  let arrival = Barrier.arrival t Stays in
  { arrival; waiter = Waiter.make arrival; asked = 0 }

let arrive ?accepts t =
  let task = task t in
  Check.yes "it waits" (come ?accepts t task);
  task

let poll t = Concord.Event.poll (Barrier.await_evt t) = Some ()

(* A barrier of three. The first waiter was asked in vain, and two more came. *)
let first_is_away () =
  let t = Barrier.create 3 in
  let first = arrive t in
  let _refuses = arrive ~accepts:false t in
  Check.no "the poll" (poll t);
  let others = [ arrive t; arrive t ] in
  (t, first, others)

let is_open t what =
  let none = Barrier.waiters t = 0 in
  if not none then Check.yes (what ^ ": it is open") (poll t);
  let s = Atomic.get t.state in
  Check.yes (what ^ ": no task waits")
    (s.arrived = 0 && s.away = 0 && (not s.trying) && Waiters.is_empty s.slots)

let times_asked n what task = Check.int what n task.asked

(* If the operation was not performed, it withdraws, and then [await] leaves. *)
let comes_back () =
  let t, first, others = first_is_away () in
  ( (fun () -> ignore (come t first : bool)),
    fun what ->
      if first.asked < 2 then begin
        Operation.withdraw Barrier.awaiting t first.waiter;
        Barrier.leave first.arrival
      end;
      is_open t what;
      List.iter (times_asked 1 what) others )

let leaves () =
  let t, first, others = first_is_away () in
  ( (fun () -> Barrier.leave first.arrival),
    fun what ->
      Check.int (what ^ ": waiters") 2 (Barrier.waiters t);
      is_open t what;
      List.iter (times_asked 1 what) others )

let passes ?(others = 2) () =
  let t = Barrier.create (others + 1) in
  let others = List.init others (fun _ -> arrive t) in
  ( (fun () -> ignore (poll t : bool)),
    fun what ->
      is_open t what;
      List.iter (times_asked 1 what) others )

let refuses () =
  let t = Barrier.create 2 in
  let _refuses = arrive ~accepts:false t in
  ( (fun () -> ignore (poll t : bool)),
    fun what ->
      Check.no (what ^ ": the poll") (poll t);
      Check.int (what ^ ": waiters") 0 (Barrier.waiters t);
      let _other = arrive t in
      is_open t what )

let fails () =
  let t = Barrier.create 3 in
  let first = arrive t in
  let _refuses = arrive ~accepts:false t in
  ( (fun () -> ignore (poll t : bool)),
    fun what ->
      if first.asked = 0 then Check.no (what ^ ": the poll") (poll t);
      Check.int (what ^ ": waiters") 1 (Barrier.waiters t);
      Check.yes (what ^ ": it comes back") (come t first);
      let _other = arrive t in
      is_open t what )

(* A handler raises in a task that the barrier has let through, before the task runs. *)
let is_through () =
  let t = Barrier.create 3 in
  let first = arrive t and _other = arrive t in
  Check.yes "the poll" (poll t);
  Barrier.leave first.arrival;
  let _first = arrive t and _other = arrive t in
  is_open t "after that"

let interrupted =
  let test name make =
    Check.test name (fun () -> Concord_test_support.Interrupting.all_of make)
  in
  Check.test "a task that was let through leaves" is_through
  :: List.concat_map Concord_test_support.Interrupting.only
       [
         test "the last one arrives" passes;
         test "the second of two" (passes ~others:1);
         test "the first of two refuses" refuses;
         test "a trial fails" fails;
         test "one comes back" comes_back;
         test "a task that is away leaves" leaves;
       ]
