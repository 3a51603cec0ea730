(* Barriers. *)

open Compared
module Check = Concord_test_support.Check

type op = Poll

let poll t = Concord.Event.poll (Barrier.await_evt t) = Some ()

let real parties how ~log =
  let t = Barrier.create parties and waiters = waiters log in
  let act Poll _ =
    if how = Publicly then string_of_bool (poll t)
    else
      (* With two parties, the step may have to wait although it began. *)
      let how = if parties = 2 then By_attempt else how in
      let passed = perform how t.waiting Barrier.await_step parties in
      string_of_bool (passed = Some ())
  and enlist () number = enlist waiters Barrier.awaiting unit t parties number
  and look () = Printf.sprintf "%d wait" (Barrier.waiters t) in
  { act; enlist; withdraw = withdraw waiters; look }

let barrier parties =
  Structure
    {
      name = Printf.sprintf "Barrier of %d" parties;
      ops = [| Poll |];
      roles = [| () |];
      make = real parties;
      expected = None;
    }

let all = List.map barrier [ 1; 2; 3; 5 ]

(* --- A handler raises at each allocation ----------------------------------------- *)

(* The resumer allocates nothing, so no handler can raise before it has decided. *)
let arrive ?(accepts = true) t =
  let waiter = Waiter.make (Barrier.parties t) and asked = ref 0 in
  waiter.resumer <-
    (fun _ ->
      incr asked;
      accepts);
  Check.yes "it waits" (Operation.enlist Barrier.awaiting t waiter);
  (waiter, asked)

let is_open t what =
  if Barrier.waiters t > 0 then Check.yes (what ^ ": it is open") (poll t);
  Check.yes (what ^ ": no task waits") (Waiters.is_empty (Atomic.get t.waiting))

let passes ?(others = 2) () =
  let t = Barrier.create (others + 1) in
  let others = List.init others (fun _ -> arrive t) in
  ( (fun () -> ignore (poll t : bool)),
    fun what ->
      is_open t what;
      List.iter (fun (_, asked) -> Check.int what 1 !asked) others )

let refuses () =
  let t = Barrier.create 2 in
  let _refuses = arrive ~accepts:false t in
  ( (fun () -> ignore (poll t : bool)),
    fun what ->
      Check.no (what ^ ": the poll") (poll t);
      Check.int (what ^ ": waiters") 0 (Barrier.waiters t);
      let _other = arrive t in
      is_open t what )

let leaves () =
  let t = Barrier.create 3 in
  let first, _ = arrive t in
  let _, asked = arrive t in
  ( (fun () -> Operation.withdraw Barrier.awaiting t first),
    fun what ->
      Check.int (what ^ ": waiters") 1 (Barrier.waiters t);
      Check.no (what ^ ": the poll") (poll t);
      let _third = arrive t in
      is_open t what;
      Check.int what 1 !asked )

(* A handler raises in a task that the barrier has let through, before the task runs. *)
let is_through () =
  let t = Barrier.create 3 in
  let first, _ = arrive t in
  let _other = arrive t in
  Check.yes "the poll" (poll t);
  let _first = arrive t in
  Operation.withdraw Barrier.awaiting t first;
  let _other = arrive t in
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
         test "one leaves" leaves;
       ]
