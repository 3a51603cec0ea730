open Results

module Of (Of : sig
  val capacity : int
end) =
struct
  include Pool_spec.Make (Of)

  (* The oldest lease comes first. *)
  type t = { pool : int Pool.t; leases : int Pool.lease list Atomic.t }

  let create () =
    let made = Atomic.make 0 in
    let make () = 1 + Atomic.fetch_and_add made 1 in
    { pool = Pool.create Of.capacity make; leases = Atomic.make [] }

  let rec leased t lease =
    let before = Atomic.get t.leases in
    if Atomic.compare_and_set t.leases before (before @ [ lease ]) then
      int (Pool.value lease)
    else leased t lease

  let rec give_back t keep =
    match Atomic.get t.leases with
    | [] -> "no lease"
    | lease :: rest as before ->
        if Atomic.compare_and_set t.leases before rest then
          unit (Pool.give_back ~keep lease)
        else give_back t keep

  let call t operation =
    closed @@ fun () ->
    match operation with
    | Obtain -> leased t (Pool.obtain t.pool)
    | Give_back keep -> give_back t keep
    | Clear -> unit (Pool.clear t.pool)
    | Close -> unit (Pool.close t.pool)
    | Await_closed -> unit (Pool.await_closed t.pool)
    | Sizes ->
        Printf.sprintf "%d idle, %d used" (Pool.idle t.pool)
          (Pool.in_use t.pool)
    | Make | Lease _ | Return _ -> assert false (* not chosen *)

  let event t = function
    | Obtain -> closing_event (leased t) (Pool.obtain_evt t.pool)
    | Await_closed -> event unit (Pool.await_closed_evt t.pool)
    | Make | Lease _ | Give_back _ | Return _ | Clear | Close | Sizes -> None

  let try_call t = function
    | Obtain ->
        tried_closing (fun () -> Option.map (leased t) (Pool.try_obtain t.pool))
    | Await_closed | Make | Lease _ | Give_back _ | Return _ | Clear | Close
    | Sizes ->
        None

  let waiters t = Pool.waiters t.pool
end

module Of_one = Of (struct
  let capacity = 1
end)

module Of_two = Of (struct
  let capacity = 2
end)
