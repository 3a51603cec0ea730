let refused what =
  Invalid_argument
    ("Promise.on_resolve or map: the function " ^ what
   ^ ", but must not, because it runs in the task that resolves the promise. \
      Instead, fork a task that awaits the promise, and do it there")

let waits = refused "has to wait"

let performs =
  refused "performs an effect (it forks, yields or asks its scheduler)"

(* [f] runs in the task that resolves the promise, which may even be the loop of a scheduler.
   If [f] waited or forked, that task would. So [f] runs as in a thread without a scheduler,
   where an effect raises. Only a question ([Concord_suspend.Ask]) may pass, because it is answered at
   once. *)
let run f =
  let open Effect.Deep in
  let unhandled = ref Not_found in
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | Concord_suspend.Suspend _ -> Some (fun k -> discontinue k waits)
    | Concord_suspend.Protect -> Some (fun k -> continue k ignore)
    | Concord_suspend.Ask { question = Reach.Refused_effects; _ } ->
        Some (fun k -> continue k (Some performs))
    | Concord_suspend.Ask _ -> None
    | _ ->
        Some
          (fun k ->
            unhandled := Effect.Unhandled e;
            discontinue k !unhandled)
  in
  let exnc e =
    let backtrace = Printexc.get_raw_backtrace () in
    let e = if e == !unhandled then performs else e in
    Printexc.raise_with_backtrace e backtrace
  in
  match_with f () { retc = Fun.id; exnc; effc }
