open Concord.Tools.Structure_kit

(* While the library looks for leaks, each wait makes a guard, and takes longer. After many
   waits in which spinning was in vain, a task spins only in every 512th one, so this would take
   too long. *)
let some_spin =
  Domain.recommended_domain_count () > 1
  && not (Concord__core__Observer.finds_leaks ())

(* A wait for something that a spinning task finds, or doesn't find. Returns whether the task
   spun. (The public [wait] would also attempt the operation before it spins.) *)
let looks ~found =
  let looked = ref false in
  let attempt () () =
    looked := true;
    if found then Some () else None
  and enlist () (w : (unit, unit) waiter) =
    ignore (w.resumer (Ok ()) : bool);
    true
  in
  Concord__core__Operation.wait
    {
      default with
      name = "looks";
      spin = Before;
      how = By_hand { attempt; enlist; withdraw = (fun () _ -> ()) };
    }
    () ();
  !looked

let rec until_it_looks ~found = if not (looks ~found) then until_it_looks ~found

(* If spinning was worth it, the next wait spins too, unless there were too many such waits in
   a row. Otherwise the next wait doesn't spin. *)
let next looks =
  if some_spin then begin
    until_it_looks ~found:(not looks);
    until_it_looks ~found:looks
  end

let turns = 7

(* In a program with one domain, no task spins, so this starts another domain first. The tests
   run in the calling domain, because domains that end while waits are recorded may crash
   OCaml's collector (see [doc/limits.mld]). *)
let each f () =
  Check.in_domain ignore;
  for choice = 0 to (1 lsl turns) - 1 do
    let turn = ref 0 in
    let choose () =
      next ((choice lsr Int.min !turn (turns - 1)) land 1 = 1);
      incr turn
    in
    try Hand.before_turns choose f
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Printf.eprintf "the waits that spin: %x\n%!" choice;
      Printexc.raise_with_backtrace e backtrace
  done
