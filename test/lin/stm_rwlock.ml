open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

let denied name mode =
  Error
    (Sys_error
       (Printf.sprintf "Rwlock.%s: no task holds the lock to %s" name mode))

module Spec = struct
  type sut = Rwlock.t
  type state = Free | Read_by of int | Written

  type cmd =
    | Try_read
    | Try_write
    | Read_unlock
    | Write_unlock
    | Downgrade
    | Poll_read
    | Poll_write
    | Waiters
    | Read_lock
    | Write_lock
    | Read
    | Write

  let show_cmd = function
    | Try_read -> "try_read_lock"
    | Try_write -> "try_write_lock"
    | Read_unlock -> "read_unlock"
    | Write_unlock -> "write_unlock"
    | Downgrade -> "downgrade"
    | Poll_read -> "poll read_lock_evt"
    | Poll_write -> "poll write_lock_evt"
    | Waiters -> "waiters"
    | Read_lock -> "read_lock"
    | Write_lock -> "write_lock"
    | Read -> "read"
    | Write -> "write"

  let init_state = Free
  let init_sut () = Rwlock.create ()
  let cleanup _ = ()
  let any_of cmds = Gen.oneof (List.map Gen.return cmds)

  let never_wait =
    [
      Try_read;
      Try_write;
      Read_unlock;
      Write_unlock;
      Downgrade;
      Poll_read;
      Poll_write;
      Waiters;
    ]

  let arb_cmd state =
    let need_not_wait =
      match state with
      | Free -> [ Read_lock; Write_lock; Read; Write ]
      | Read_by _ -> [ Read_lock; Read ]
      | Written -> []
    in
    make ~print:show_cmd (any_of (need_not_wait @ never_wait))

  let next_state cmd state =
    match (cmd, state) with
    | (Try_read | Poll_read | Read_lock), Free -> Read_by 1
    | (Try_read | Poll_read | Read_lock), Read_by n -> Read_by (n + 1)
    | (Try_write | Poll_write | Write_lock), Free -> Written
    | Read_unlock, Read_by 1 -> Free
    | Read_unlock, Read_by n -> Read_by (n - 1)
    | Write_unlock, Written -> Free
    | Downgrade, Written -> Read_by 1
    | _ -> state

  let precond cmd state =
    match cmd with
    | Read_lock | Read -> state <> Written
    | Write_lock | Write -> state = Free
    | _ -> true

  let run cmd t =
    match cmd with
    | Try_read -> Res (bool, Rwlock.try_read_lock t)
    | Try_write -> Res (bool, Rwlock.try_write_lock t)
    | Read_unlock -> Res (result unit exn, protect Rwlock.read_unlock t)
    | Write_unlock -> Res (result unit exn, protect Rwlock.write_unlock t)
    | Downgrade -> Res (result unit exn, protect Rwlock.downgrade t)
    | Poll_read -> Res (option unit, Event.poll (Rwlock.read_lock_evt t))
    | Poll_write -> Res (option unit, Event.poll (Rwlock.write_lock_evt t))
    | Waiters -> Res (int, Rwlock.waiters t)
    | Read_lock -> Res (unit, Rwlock.read_lock t)
    | Write_lock -> Res (unit, Rwlock.write_lock t)
    | Read -> Res (bool, Rwlock.read t (fun () -> Rwlock.try_write_lock t))
    | Write -> Res (bool, Rwlock.write t (fun () -> Rwlock.try_read_lock t))

  let postcond cmd (state : state) res =
    match (cmd, res) with
    | Try_read, Res ((Bool, _), got) -> got = (state <> Written)
    | Try_write, Res ((Bool, _), got) -> got = (state = Free)
    | Poll_read, Res ((Option Unit, _), r) ->
        r = if state <> Written then Some () else None
    | Poll_write, Res ((Option Unit, _), r) ->
        r = if state = Free then Some () else None
    | Read_unlock, Res ((Result (Unit, Exn), _), r) -> (
        match state with
        | Read_by _ -> r = Ok ()
        | Free | Written -> r = denied "read_unlock" "read")
    | Write_unlock, Res ((Result (Unit, Exn), _), r) ->
        r = if state = Written then Ok () else denied "write_unlock" "write"
    | Downgrade, Res ((Result (Unit, Exn), _), r) ->
        r = if state = Written then Ok () else denied "downgrade" "write"
    | Waiters, Res ((Int, _), n) -> n = 0
    | (Read_lock | Write_lock), Res ((Unit, _), ()) -> true
    | (Read | Write), Res ((Bool, _), entered) -> not entered
    | _ -> false
end

module Prefers_writers = struct
  include Spec

  let init_sut () = Rwlock.create ~prefer:`Writers ()
end

(* The state in which a command runs is not known on two domains. *)
module Never_waits = struct
  include Spec

  let arb_cmd _ = make ~print:show_cmd (any_of never_wait)
end

module Never_waits_prefers_writers = struct
  include Never_waits

  let init_sut = Prefers_writers.init_sut
end

module One = STM_sequential.Make (Spec)
module One_writers = STM_sequential.Make (Prefers_writers)
module Two = STM_domain.Make (Never_waits)
module Two_writers = STM_domain.Make (Never_waits_prefers_writers)

let tests =
  [
    One.agree_test ~count:(Race.often 300) ~name:"Rwlock, on one domain";
    One_writers.agree_test ~count:(Race.often 300)
      ~name:"Rwlock for writers first, on one domain";
    Two.agree_test_par ~count:(Race.often 25)
      ~name:"Rwlock without waiting, on two domains";
    Two_writers.agree_test_par ~count:(Race.often 10)
      ~name:"Rwlock for writers first without waiting, on two domains";
  ]
