open Task_types
open Effect.Deep

let create wait =
  let _, weak = Identity.viewed wait Fun.id in
  { weak; strong = Atomic.make Nowhere }

let keep guarded wait = Atomic.set guarded.strong wait

let wait guarded =
  match guarded.weak () with
  | Some wait ->
      keep guarded wait;
      wait
  | None -> Nowhere

let of_task s number =
  match s.waits.(number) with Guarded guarded -> wait guarded | wait -> wait

let[@inline never] go_on s number =
  match of_task s number with
  | Wait { decision; continuation } -> (
      s.waits.(number) <- Nowhere;
      match Decision.outcome decision with
      | Ok v -> continue continuation v
      | Error e -> discontinue continuation e)
  | _ ->
      (* Only suspended tasks are pushed, and the thread that decided has kept the wait alive. *)
      assert false
