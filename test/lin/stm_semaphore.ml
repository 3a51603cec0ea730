open Concord
module Race = Concord_test_support.Race
open QCheck
open STM

(* Both kinds. A binary semaphore has at most one permit, and then a release is ignored instead
   of refused. *)
module type Kind = sig
  type t

  val make : int -> t
  val most : int
  val initial : int
  val overflow : (unit, exn) Stdlib.result
  val overflow_n : (unit, exn) Stdlib.result
  val get_value : (t -> int) option
  val try_acquire : t -> bool
  val acquire : t -> unit
  val acquire_evt : t -> unit Event.t
  val release : t -> unit
  val waiters : t -> int

  (* [try_acquire_n], [acquire_n_evt] and [release_n]. *)
  val several :
    ((t -> int -> bool) * (t -> int -> unit Event.t) * (t -> int -> unit))
    option
end

module Spec (Kind : Kind) = struct
  type sut = Kind.t

  (* How many permits there are. *)
  type state = int

  type cmd =
    | Try_acquire
    | Release
    | Poll_acquire
    | Value
    | Waiters
    | Acquire
    | Try_acquire_n of int
    | Poll_acquire_n of int
    | Release_n of int

  let show_cmd = function
    | Try_acquire -> "try_acquire"
    | Release -> "release"
    | Poll_acquire -> "poll acquire_evt"
    | Value -> "get_value"
    | Waiters -> "waiters"
    | Acquire -> "acquire"
    | Try_acquire_n n -> Printf.sprintf "try_acquire_n %d" n
    | Poll_acquire_n n -> Printf.sprintf "poll acquire_n_evt %d" n
    | Release_n n -> Printf.sprintf "release_n %d" n

  let init_state = Kind.initial
  let init_sut () = Kind.make Kind.initial
  let cleanup _ = ()
  let any_of cmds = Gen.oneof (List.map Gen.return cmds)

  let never_wait =
    let value = if Kind.get_value = None then [] else [ Value ] in
    let several =
      if Kind.several = None then []
      else [ Try_acquire_n 2; Poll_acquire_n 3; Release_n 2; Release_n 3 ]
    in
    value @ several @ [ Try_acquire; Release; Release; Poll_acquire; Waiters ]

  let arb_cmd permits =
    let need_not_wait = if permits > 0 then [ Acquire ] else [] in
    make ~print:show_cmd (any_of (need_not_wait @ never_wait))

  let next_state cmd permits =
    match cmd with
    | Try_acquire | Poll_acquire | Acquire -> Int.max 0 (permits - 1)
    | Release -> if permits = Kind.most then permits else permits + 1
    | Try_acquire_n n | Poll_acquire_n n ->
        if permits < n then permits else permits - n
    | Release_n n -> if permits > Kind.most - n then permits else permits + n
    | Value | Waiters -> permits

  let precond cmd permits = cmd <> Acquire || permits > 0
  let several () = Option.get Kind.several

  let run cmd t =
    match cmd with
    | Try_acquire_n n ->
        let try_acquire_n, _, _ = several () in
        Res (bool, try_acquire_n t n)
    | Poll_acquire_n n ->
        let _, acquire_n_evt, _ = several () in
        Res (option unit, Event.poll (acquire_n_evt t n))
    | Release_n n ->
        let _, _, release_n = several () in
        Res (result unit exn, protect (release_n t) n)
    | Try_acquire -> Res (bool, Kind.try_acquire t)
    | Release -> Res (result unit exn, protect Kind.release t)
    | Poll_acquire -> Res (option unit, Event.poll (Kind.acquire_evt t))
    | Value -> Res (int, Option.get Kind.get_value t)
    | Waiters -> Res (int, Kind.waiters t)
    | Acquire -> Res (unit, Kind.acquire t)

  let postcond cmd (permits : state) res =
    match (cmd, res) with
    | Try_acquire, Res ((Bool, _), got) -> got = (permits > 0)
    | Release, Res ((Result (Unit, Exn), _), r) ->
        r = if permits = Kind.most then Kind.overflow else Ok ()
    | Poll_acquire, Res ((Option Unit, _), r) ->
        r = if permits > 0 then Some () else None
    | Try_acquire_n n, Res ((Bool, _), got) -> got = (permits >= n)
    | Poll_acquire_n n, Res ((Option Unit, _), r) ->
        r = if permits >= n then Some () else None
    | Release_n n, Res ((Result (Unit, Exn), _), r) ->
        r = if permits > Kind.most - n then Kind.overflow_n else Ok ()
    | Value, Res ((Int, _), n) -> n = permits
    | Waiters, Res ((Int, _), n) -> n = 0
    | Acquire, Res ((Unit, _), ()) -> true
    | _ -> false
end

module Counting = struct
  include Semaphore.Counting

  let initial = 1
  let most = max_int
  let overflow = Error (Sys_error "Semaphore.Counting.release: overflow")
  let overflow_n = Error (Sys_error "Semaphore.Counting.release_n: overflow")
  let get_value = Some get_value
  let several = Some (try_acquire_n, acquire_n_evt, release_n)
end

module Almost_full = struct
  include Counting

  let initial = max_int - 1
end

module Binary = struct
  include Semaphore.Binary

  let make n = make (n = 1)
  let initial = 0
  let most = 1
  let overflow = Ok ()
  let overflow_n = Ok ()
  let get_value = None
  let several = None
end

module Tests (Kind : Kind) = struct
  module Spec = Spec (Kind)

  (* On two domains, the state in which a command runs isn't known. *)
  module Never_waits = struct
    include Spec

    let arb_cmd _ = make ~print:show_cmd (any_of never_wait)
  end

  module One = STM_sequential.Make (Spec)
  module Two = STM_domain.Make (Never_waits)

  let tests name =
    [
      One.agree_test ~count:(Race.often 200) ~name:(name ^ ", on one domain");
      Two.agree_test_par ~count:(Race.often 15)
        ~name:(name ^ " without waiting, on two domains");
    ]
end

module Of_counting = Tests (Counting)
module Of_almost_full = Tests (Almost_full)
module Of_binary = Tests (Binary)

let tests =
  Of_counting.tests "Semaphore.Counting"
  @ Of_almost_full.tests "Semaphore.Counting, almost full"
  @ Of_binary.tests "Semaphore.Binary"
