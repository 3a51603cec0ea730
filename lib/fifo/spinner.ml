open Task_types
open Task
open Ready

(* The decision of a task that is suspended in this scheduler. These states are in addition to
   those of H3

   State       Left by  To          By whom
   undecided   decide   an outcome  any thread, which then makes the task ready
               spin     spun_on     the loop, which has nothing to do
   spun_on     decide   an outcome  any thread, which owes nothing, because the loop sees it
               leave    undecided   the loop
   an outcome  never (terminal), except those of lazy cancelling

   [s.spins_on] is the number of the task on whose decision the loop spins, or -1. Debt: the
   loop leaves the decision before it does anything else. So does a callback that cancels on
   top of the loop. If the wait was decided meanwhile, it then makes the task ready.

   The decision exists in any case. Everything else that another thread changes is elsewhere in
   memory: the inbox, the posted message, and whether the loop sleeps. Moving each of them to
   the other core and back takes as long as the rest. *)

let atomic decision = (decision : _ Decision.t :> _ Atomic.t)

(* The task is still suspended, because no other code has made it ready. *)
let rec leave s =
  let number = s.spins_on in
  if number >= 0 then
    match s.waits.(number) with
    | Wait { decision; _ } -> (
        match
          leave_spin s number (atomic decision) Decision.undecided spun_on
        with
        | Left | Ready -> ()
        | No_room ->
            grow s;
            leave s)
    | Turn _ | Parent _ | Start _ | Nowhere | Answer _ | Failing _ | Ended
    | Raised _ | Guarded _ ->
        assert false

let leave_surely s = if s.spins_on >= 0 then surely (fun s () -> leave s) s ()

(* Any waiting task will do. This one was the last to begin to wait, so it is mostly the next
   one to be resumed. *)
let begin_with_last s =
  match if s.last < 0 then Nowhere else s.waits.(s.last) with
  | Wait { decision; _ } ->
      begin_spin s s.last (atomic decision) Decision.undecided spun_on
  | Turn _ | Parent _ | Start _ | Nowhere | Answer _ | Failing _ | Ended
  | Raised _ | Guarded _ ->
      ()

let is_resumed s =
  s.spins_on >= 0
  &&
  match s.waits.(s.spins_on) with
  | Wait { decision; _ } -> Decision.outcome decision != spun_on
  | Turn _ | Parent _ | Start _ | Nowhere | Answer _ | Failing _ | Ended
  | Raised _ | Guarded _ ->
      false

let before_sleep s =
  match
    Spin.until s.spin
      ~prepare:(fun () -> begin_with_last s)
      (fun () -> is_resumed s || not (is_idle s))
  with
  | (_ : bool) ->
      leave_surely s;
      not (is_idle s)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave_surely s;
      Printexc.raise_with_backtrace e backtrace
