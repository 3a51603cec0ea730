open Task
open Ready

(* The decision of a task that is suspended in this scheduler, beside H3

   State       Left by  To          By whom
   undecided   decide   an outcome  any thread; it then makes the task ready
               spin     spun_on     the loop, which has nothing to do
   spun_on     decide   an outcome  any thread, which owes nothing: the loop sees it
               leave    undecided   the loop
   an outcome  never (terminal), but for those of lazy cancelling

   [s.spins_on] is the number of the task on whose decision the loop spins, or -1. Debt: the
   loop, or a signal handler on top of it that cancels, leaves the decision before it does
   anything else; it then makes the task ready, if that was decided meanwhile.

   What another thread changes of a loop is at other places in memory: its inbox, what it
   posts there, whether the loop sleeps. To bring each to the other core and back takes as
   long as all else. The decision is there in any case. *)

let atomic decision = (decision : _ Decision.t :> _ Atomic.t)

(* The task is suspended: nobody else has made it ready. *)
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

(* Any task that waits will do: mostly this one is next, being the last to begin. *)
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
