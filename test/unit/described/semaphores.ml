module Counting (From : sig
  val permits : int
end) =
struct
  include Semaphore_spec.Make (From)
  module C = Semaphore.Counting

  type t = C.t

  let create () = C.make From.permits

  let released release t =
    try Results.unit (release t) with Sys_error _ -> "overflow"

  let call t = function
    | Acquire 1 ->
        C.acquire t;
        "()"
    | Acquire n ->
        C.acquire_n t n;
        "()"
    | Release 1 -> released C.release t
    | Release n -> released (fun t -> C.release_n t n) t
    | Get_value -> string_of_int (C.get_value t)

  let unit event = Some (Event.wrap event (fun () -> "()"))

  let event t = function
    | Acquire 1 -> unit (C.acquire_evt t)
    | Acquire n -> unit (C.acquire_n_evt t n)
    | Release _ | Get_value -> None

  let some taken = Some (if taken then Some "()" else None)

  let try_call t = function
    | Acquire 1 -> some (C.try_acquire t)
    | Acquire n -> some (C.try_acquire_n t n)
    | Release _ | Get_value -> None

  let waiters = C.waiters
end

module Of_none = Counting (struct
  let permits = 0
end)

module Of_one = Counting (struct
  let permits = 1
end)

module Of_three = Counting (struct
  let permits = 3
end)

module Almost_full = Counting (struct
  let permits = max_int - 1
end)

module Binary = struct
  include Binary_spec
  module B = Semaphore.Binary

  type t = B.t

  let create () = B.make Binary_spec.initial

  let call t = function
    | Acquire -> Results.unit (B.acquire t)
    | Release -> Results.unit (B.release t)

  let event t = function
    | Acquire -> Results.event Results.unit (B.acquire_evt t)
    | Release -> None

  let try_call t = function
    | Acquire -> Results.tried_bool (B.try_acquire t)
    | Release -> None

  let waiters = B.waiters
end
