(* The operations of Promise that never wait, and await of a resolved promise, against a model,
   on one domain and on two. *)

open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

exception Refused

module Spec = struct
  type sut = int Promise.t
  type state = (int, unit) Stdlib.result option

  type cmd =
    | Try_fill of int
    | Fill of int
    | Try_fail
    | Peek
    | Is_resolved
    | Await
    | Waiters

  let show_cmd = function
    | Try_fill v -> Printf.sprintf "try_fill %d" v
    | Fill v -> Printf.sprintf "fill %d" v
    | Try_fail -> "try_fail"
    | Peek -> "peek"
    | Is_resolved -> "is_resolved"
    | Await -> "await"
    | Waiters -> "waiters"

  let init_state = None
  let init_sut () = Promise.create ()
  let cleanup _ = ()

  let arb_cmd state =
    let value = Gen.int_bound 9 in
    let any =
      [
        Gen.map (fun v -> Try_fill v) value;
        Gen.map (fun v -> Fill v) value;
        Gen.return Try_fail;
        Gen.return Peek;
        Gen.return Is_resolved;
        Gen.return Waiters;
      ]
    in
    let resolved = if state = None then [] else [ Gen.return Await ] in
    make ~print:show_cmd (Gen.oneof (resolved @ any))

  let next_state cmd state =
    match (cmd, state) with
    | (Try_fill v | Fill v), None -> Some (Ok v)
    | Try_fail, None -> Some (Error ())
    | _ -> state

  (* No task would resolve it. *)
  let precond cmd state = cmd <> Await || state <> None
  let outcome = result int exn

  let run cmd p =
    match cmd with
    | Try_fill v -> Res (bool, Promise.try_fill p v)
    | Fill v -> Res (result unit exn, protect (Promise.fill p) v)
    | Try_fail -> Res (bool, Promise.try_fail p Refused)
    | Peek -> Res (option outcome, Promise.peek p)
    | Is_resolved -> Res (bool, Promise.is_resolved p)
    | Await -> Res (outcome, protect Promise.await p)
    | Waiters -> Res (int, Promise.waiters p)

  let seen : state -> (int, exn) Stdlib.result option =
    Option.map (Result.map_error (fun () -> Refused))

  let postcond cmd (state : state) res =
    match (cmd, res) with
    | (Try_fill _ | Try_fail), Res ((Bool, _), resolved_now) ->
        resolved_now = (state = None)
    | Fill _, Res ((Result (Unit, Exn), _), r) ->
        (if state = None then Ok () else Error Promise.Already_filled) = r
    | Peek, Res ((Option (Result (Int, Exn)), _), r) -> seen state = r
    | Is_resolved, Res ((Bool, _), r) -> r = (state <> None)
    | Await, Res ((Result (Int, Exn), _), r) -> seen state = Some r
    | Waiters, Res ((Int, _), n) -> n = 0
    | _ -> false
end

module One = STM_sequential.Make (Spec)
module Two = STM_domain.Make (Spec)

let () =
  Drawn.run
    [
      One.agree_test ~count:(Race.often 500) ~name:"Promise, on one domain";
      Two.agree_test_par ~count:(Race.often 20) ~name:"Promise, on two domains";
    ]
