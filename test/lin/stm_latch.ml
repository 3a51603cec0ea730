open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

module Spec = struct
  type sut = Latch.t

  (* The count. *)
  type state = int

  type cmd =
    | Count_down
    | Count_up
    | Count
    | Is_open
    | Poll_await
    | Waiters
    | Await

  let show_cmd = function
    | Count_down -> "count_down"
    | Count_up -> "count_up"
    | Count -> "count"
    | Is_open -> "is_open"
    | Poll_await -> "poll await_evt"
    | Waiters -> "waiters"
    | Await -> "await"

  let init_state = 5
  let init_sut () = Latch.create init_state
  let cleanup _ = ()
  let any_of cmds = Gen.oneof (List.map Gen.return cmds)

  let never_wait =
    [ Count_down; Count_down; Count_up; Count; Is_open; Poll_await; Waiters ]

  let arb_cmd count =
    let need_not_wait = if count = 0 then [ Await ] else [] in
    make ~print:show_cmd (any_of (need_not_wait @ never_wait))

  let next_state cmd count =
    match cmd with
    | Count_down -> Int.max 0 (count - 1)
    | Count_up when count > 0 -> count + 1
    | _ -> count

  let precond cmd count = cmd <> Await || count = 0

  let run cmd t =
    match cmd with
    | Count_down -> Res (result unit exn, protect Latch.count_down t)
    | Count_up -> Res (result unit exn, protect Latch.count_up t)
    | Count -> Res (int, Latch.count t)
    | Is_open -> Res (bool, Latch.is_open t)
    | Poll_await -> Res (option unit, Event.poll (Latch.await_evt t))
    | Waiters -> Res (int, Latch.waiters t)
    | Await -> Res (unit, Latch.await t)

  let misuse name =
    Invalid_argument (Printf.sprintf "Latch.%s: the latch is open" name)

  let postcond cmd (count : state) res =
    match (cmd, res) with
    | Count_down, Res ((Result (Unit, Exn), _), r) ->
        r = if count > 0 then Ok () else Error (misuse "count_down")
    | Count_up, Res ((Result (Unit, Exn), _), r) ->
        r = if count > 0 then Ok () else Error (misuse "count_up")
    | Count, Res ((Int, _), n) -> n = count
    | Is_open, Res ((Bool, _), r) -> r = (count = 0)
    | Poll_await, Res ((Option Unit, _), r) ->
        r = if count = 0 then Some () else None
    | Waiters, Res ((Int, _), n) -> n = 0
    | Await, Res ((Unit, _), ()) -> true
    | _ -> false
end

module One = STM_sequential.Make (Spec)

(* An open latch stays open, so [await] can be included. *)
module Two = STM_domain.Make (Spec)

let tests =
  [
    One.agree_test ~count:(Race.often 300) ~name:"Latch, on one domain";
    Two.agree_test_par ~count:(Race.often 25) ~name:"Latch, on two domains";
  ]
