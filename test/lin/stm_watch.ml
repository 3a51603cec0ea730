open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

module Spec = struct
  type sut = { watch : int Watch.t; since : Watch.version }
  type state = { value : int; changed : bool; closed : bool }
  type cmd = Set of int | Get | Read | Poll_changed | Close | Is_closed

  let show_cmd = function
    | Set v -> Printf.sprintf "set %d" v
    | Get -> "get"
    | Read -> "read"
    | Poll_changed -> "poll changed_evt"
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
         :: List.map Gen.return [ Get; Read; Poll_changed; Close; Is_closed ]))

  let next_state cmd s =
    match cmd with
    | Set value when not s.closed -> { s with value; changed = true }
    | Close -> { s with closed = true }
    | Set _ | Get | Read | Poll_changed | Is_closed -> s

  let precond _ _ = true

  let poll_changed t =
    let changed = Watch.changed_evt t.watch ~since:t.since in
    Option.map fst (Event.poll changed)

  let run cmd t =
    match cmd with
    | Set v -> Res (result unit exn, protect (Watch.set t.watch) v)
    | Get -> Res (int, Watch.get t.watch)
    | Read -> Res (int, fst (Watch.read t.watch))
    | Poll_changed -> Res (result (option int) exn, protect poll_changed t)
    | Close -> Res (unit, Watch.close t.watch)
    | Is_closed -> Res (bool, Watch.is_closed t.watch)

  let postcond cmd (s : state) res =
    match (cmd, res) with
    | Set _, Res ((Result (Unit, Exn), _), r) ->
        r = if s.closed then Error Watch.Closed else Ok ()
    | (Get | Read), Res ((Int, _), v) -> v = s.value
    | Poll_changed, Res ((Result (Option Int, Exn), _), r) ->
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
