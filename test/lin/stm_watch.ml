open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

module Spec = struct
  type sut = { watch : int Watch.t; since : Watch.version }
  type state = { value : int; changed : bool; closed : bool }

  type cmd = Set of int | Get | Read | Changed of how | Close | Is_closed
  and how = Polled | Tried

  let show_cmd = function
    | Set v -> Printf.sprintf "set %d" v
    | Get -> "get"
    | Read -> "read"
    | Changed Polled -> "poll changed_evt"
    | Changed Tried -> "try_changed"
    | Close -> "close"
    | Is_closed -> "is_closed"

  let init_state = { value = 0; changed = false; closed = false }

  let init_sut () =
    let watch = Watch.create 0 in
    { watch; since = snd (Watch.read watch) }

  let cleanup _ = ()

  let arb_cmd _ =
    make ~print:show_cmd
      (Gen.oneof
         (Gen.map (fun v -> Set v) (Gen.int_bound 9)
         :: Gen.map (fun v -> Set v) (Gen.int_bound 9)
         :: List.map Gen.return
              [ Get; Read; Changed Polled; Changed Tried; Close; Is_closed ]))

  let next_state cmd s =
    match cmd with
    | Set value when not s.closed -> { s with value; changed = true }
    | Close -> { s with closed = true }
    | Set _ | Get | Read | Changed _ | Is_closed -> s

  let precond _ _ = true

  let changed how { watch; since } =
    match how with
    | Polled -> Option.map fst (Event.poll (Watch.changed_evt watch ~since))
    | Tried -> Option.map fst (Watch.try_changed watch ~since)

  let run cmd t =
    match cmd with
    | Set v -> Res (result unit exn, protect (Watch.set t.watch) v)
    | Get -> Res (int, Watch.get t.watch)
    | Read -> Res (int, fst (Watch.read t.watch))
    | Changed how -> Res (result (option int) exn, protect (changed how) t)
    | Close -> Res (unit, Watch.close t.watch)
    | Is_closed -> Res (bool, Watch.is_closed t.watch)

  let postcond cmd (s : state) res =
    match (cmd, res) with
    | Set _, Res ((Result (Unit, Exn), _), r) ->
        r = if s.closed then Error Watch.Closed else Ok ()
    | (Get | Read), Res ((Int, _), v) -> v = s.value
    | Changed _, Res ((Result (Option Int, Exn), _), r) ->
        r
        =
        if s.changed then Ok (Some s.value)
        else if s.closed then Error Watch.Closed
        else Ok None
    | Close, Res ((Unit, _), ()) -> true
    | Is_closed, Res ((Bool, _), r) -> r = s.closed
    | _ -> false
end

module One = STM_sequential.Make (Spec)
module Two = STM_domain.Make (Spec)

let tests =
  [
    One.agree_test ~count:(Race.often 300) ~name:"Watch, on one domain";
    Two.agree_test_par ~count:(Race.often 25) ~name:"Watch, on two domains";
  ]
