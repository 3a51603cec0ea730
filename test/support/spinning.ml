open Concord.Tools.Structure_kit

(* While leaks are looked for, each wait collects garbage first. After many waits in which
   spinning was in vain, a task spins only in every 512th one, so this would take too long. *)
let some_spin =
  Domain.recommended_domain_count () > 1 && not Concord__.Leaks.is_on

(* A wait for something that is found, or not, by a task that spins. Whether it did. *)
let looks ~found =
  let looked = ref false in
  let attempt () () =
    looked := true;
    if found then Some () else None
  and enlist () (w : (unit, unit) waiter) =
    ignore (w.resumer (Ok ()) : bool);
    true
  in
  wait
    {
      default with
      name = "looks";
      spin = Before;
      how = By_hand { attempt; enlist; withdraw = (fun () _ -> ()) };
    }
    () ();
  !looked

let rec until_it_looks ~found = if not (looks ~found) then until_it_looks ~found

(* After a gain the next wait spins, unless there were too many in a row, and after a loss
   it does not. *)
let next looks =
  if some_spin then begin
    until_it_looks ~found:(not looks);
    until_it_looks ~found:looks
  end

let turns = 7

(* In a program of one domain no task spins. The tests run in this one: while waits are
   kept, domains that end may crash OCaml's collector (see doc/limits.mld). *)
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
