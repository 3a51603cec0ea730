open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

(* A pool with one resource, so a use that doesn't suspend is one step. *)
module Spec = struct
  type sut = int Pool.t

  (* The resource, if there is one, and how many were made. *)
  type state = { idle : int option; made : int; closed : bool }
  type cmd = Use | Fail | Poll | Size | Close | Is_closed | Waiters

  exception Failed of int

  let show_cmd = function
    | Use -> "use"
    | Fail -> "use, failing"
    | Poll -> "poll use_evt"
    | Size -> "size, idle, in_use"
    | Close -> "close"
    | Is_closed -> "is_closed"
    | Waiters -> "waiters"

  let init_state = { idle = None; made = 0; closed = false }

  let init_sut () =
    let made = ref 0 in
    Pool.create 1 (fun () ->
        incr made;
        !made)

  let cleanup _ = ()
  let any_of cmds = make ~print:show_cmd (Gen.oneof (List.map Gen.return cmds))
  let atomic = [ Use; Use; Use; Fail; Fail; Close; Is_closed ]

  let arb_cmd _ =
    any_of (Use :: Poll :: Poll :: Size :: Size :: Waiters :: atomic)

  let precond _ _ = true

  let used state =
    match state.idle with
    | Some v -> (v, state.made)
    | None -> (state.made + 1, state.made + 1)

  let next_state cmd state =
    let v, made = used state in
    match cmd with
    | (Use | Poll) when not state.closed -> { state with idle = Some v; made }
    | Fail when not state.closed -> { state with idle = None; made }
    | Close -> { state with idle = None; closed = true }
    | _ -> state

  let run cmd t =
    match cmd with
    | Use -> Res (result int exn, protect (Pool.use t) Fun.id)
    | Fail ->
        Res (result int exn, protect (Pool.use t) (fun v -> raise (Failed v)))
    | Poll ->
        let poll () = Event.poll (Pool.use_evt t Fun.id) in
        Res (result (option int) exn, protect poll ())
    | Size -> Res (list int, [ Pool.size t; Pool.idle t; Pool.in_use t ])
    | Close -> Res (unit, Pool.close t)
    | Is_closed -> Res (bool, Pool.is_closed t)
    | Waiters -> Res (int, Pool.waiters t)

  let postcond cmd (state : state) res =
    let v, _ = used state in
    match (cmd, res) with
    | (Use | Fail), Res ((Result (Int, Exn), _), r) ->
        r
        =
        if state.closed then Error Pool.Closed
        else if cmd = Fail then Error (Failed v)
        else Ok v
    | Poll, Res ((Result (Option Int, Exn), _), r) ->
        r = if state.closed then Error Pool.Closed else Ok (Some v)
    | Size, Res ((List Int, _), sizes) ->
        let n = if state.idle = None then 0 else 1 in
        sizes = [ n; n; 0 ]
    | Close, Res ((Unit, _), ()) -> true
    | Is_closed, Res ((Bool, _), r) -> r = state.closed
    | Waiters, Res ((Int, _), n) -> n = 0
    | _ -> false
end

(* While a use lasts, another domain can see it. *)
module In_one_step = struct
  include Spec

  let arb_cmd _ = any_of atomic
end

module One = STM_sequential.Make (Spec)
module Two = STM_domain.Make (In_one_step)

let tests =
  [
    One.agree_test ~count:(Race.often 300) ~name:"Pool, on one domain";
    Two.agree_test_par ~count:(Race.often 25) ~name:"Pool, on two domains";
  ]
