open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

let denied = Sys_error "Mutex.unlock: Operation not permitted"

module Spec = struct
  type sut = Mutex.t

  (* Whether it is locked. *)
  type state = bool

  type cmd =
    | Try_lock
    | Unlock
    | Is_locked
    | Poll_lock
    | Choose
    | Waiters
    | Lock
    | Protect

  let show_cmd = function
    | Try_lock -> "try_lock"
    | Unlock -> "unlock"
    | Is_locked -> "is_locked"
    | Poll_lock -> "poll lock_evt"
    | Choose -> "poll (choose [never; lock_evt])"
    | Waiters -> "waiters"
    | Lock -> "lock"
    | Protect -> "protect"

  let init_state = false
  let init_sut () = Mutex.create ()
  let cleanup _ = ()
  let any_of cmds = Gen.oneof (List.map Gen.return cmds)
  let never_wait = [ Try_lock; Unlock; Is_locked; Poll_lock; Choose; Waiters ]

  let arb_cmd locked =
    let need_not_wait = if locked then [] else [ Lock; Protect ] in
    make ~print:show_cmd (any_of (need_not_wait @ never_wait))

  let next_state cmd locked =
    match cmd with
    | Try_lock | Poll_lock | Choose | Lock -> true
    | Unlock -> false
    | Is_locked | Waiters | Protect -> locked

  let precond cmd locked =
    match cmd with Lock | Protect -> not locked | _ -> true

  let run cmd m =
    match cmd with
    | Try_lock -> Res (bool, Mutex.try_lock m)
    | Unlock -> Res (result unit exn, protect Mutex.unlock m)
    | Is_locked -> Res (bool, Mutex.is_locked m)
    | Poll_lock -> Res (option unit, Event.poll (Mutex.lock_evt m))
    | Choose ->
        let choice = Event.choose [ Event.never; Mutex.lock_evt m ] in
        Res (option unit, Event.poll choice)
    | Waiters -> Res (int, Mutex.waiters m)
    | Lock -> Res (unit, Mutex.lock m)
    | Protect -> Res (bool, Mutex.protect m (fun () -> Mutex.is_locked m))

  let postcond cmd (locked : state) res =
    match (cmd, res) with
    | Try_lock, Res ((Bool, _), got) -> got = not locked
    | Unlock, Res ((Result (Unit, Exn), _), r) ->
        r = if locked then Ok () else Error denied
    | Is_locked, Res ((Bool, _), r) -> r = locked
    | (Poll_lock | Choose), Res ((Option Unit, _), r) ->
        r = if locked then None else Some ()
    | Waiters, Res ((Int, _), n) -> n = 0
    | Lock, Res ((Unit, _), ()) -> true
    | Protect, Res ((Bool, _), locked) -> locked
    | _ -> false
end

(* On two domains, the state in which a command runs isn't known. *)
module Never_waits = struct
  include Spec

  let arb_cmd _ = make ~print:show_cmd (any_of never_wait)
end

module One = STM_sequential.Make (Spec)
module Two = STM_domain.Make (Never_waits)

let tests =
  [
    One.agree_test ~count:(Race.often 300) ~name:"Mutex, on one domain";
    Two.agree_test_par ~count:(Race.often 25)
      ~name:"Mutex without waiting, on two domains";
  ]
