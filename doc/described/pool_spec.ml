open Description

module Make (Of : sig
  val capacity : int
end) =
struct
  type resource = { number : int; epoch : int }

  type state = {
    idle : resource list;
    in_use : int;  (** Or being made. *)
    leases : resource list;  (** The oldest one first. *)
    made : int;
    epoch : int;  (** How often the pool was cleared. *)
    closed : bool;
  }

  type operation =
    | Obtain
    | Make
    | Lease of resource
    | Give_back of bool  (** Ends the oldest lease. *)
    | Return of bool * resource
    | Clear
    | Close
    | Await_closed
    | Sizes

  let name = Printf.sprintf "Pool of %d" Of.capacity

  let initial =
    { idle = []; in_use = 0; leases = []; made = 0; epoch = 0; closed = false }

  let operations _ =
    often
      [
        Obtain; Obtain; Obtain; Give_back true; Give_back true;
        Give_back false; Clear; Sizes; Await_closed;
      ]
    @ [ Close ]
  [@@ocamlformat "disable"]

  let line = function
    | Obtain -> Some 0
    | Await_closed -> Some 1
    | Make | Lease _ | Give_back _ | Return _ | Clear | Close | Sizes -> None

  let perform ~waiting:_ s operation =
    let in_use = s.in_use + 1 in
    match (operation, s.idle, s.leases) with
    | Obtain, _, _ when s.closed -> Returns (s, "raises Closed")
    | Obtain, r :: idle, _ -> Continues ({ s with idle; in_use }, Lease r)
    | Obtain, [], _ when s.in_use < Of.capacity ->
        Continues ({ s with in_use }, Make)
    | Obtain, [], _ -> Waits
    | Make, _, _ ->
        let made = s.made + 1 in
        Continues ({ s with made }, Lease { number = made; epoch = s.epoch })
    | Lease r, _, _ when r.epoch < s.epoch -> Continues (s, Make)
    | Lease r, _, _ ->
        Returns ({ s with leases = s.leases @ [ r ] }, string_of_int r.number)
    | Give_back _, _, [] -> Returns (s, "no lease")
    | Give_back keep, _, r :: leases ->
        Continues ({ s with leases }, Return (keep, r))
    | Return (keep, r), _, _ ->
        let is_kept = keep && r.epoch = s.epoch && not s.closed in
        let idle = if is_kept then r :: s.idle else s.idle in
        Returns ({ s with idle; in_use = s.in_use - 1 }, "()")
    | Clear, _, _ -> Returns ({ s with idle = []; epoch = s.epoch + 1 }, "()")
    | Close, _, _ -> Returns ({ s with idle = []; closed = true }, "()")
    | Await_closed, _, _ when s.closed && s.in_use = 0 -> Returns (s, "()")
    | Await_closed, _, _ -> Waits
    | Sizes, idle, _ ->
        Returns
          (s, Printf.sprintf "%d idle, %d used" (List.length idle) s.in_use)

  let if_cancelled _ = Leaves

  (* Making and disposing of a resource are steps of their own, for which
     [await_closed] waits. *)
  let beside = function
    | Obtain | Give_back _ | Close -> May_miss
    | Make | Lease _ | Return _ | Clear | Sizes | Await_closed -> Inexact

  let show = function
    | Obtain -> "obtain"
    | Make -> "make"
    | Lease r -> Printf.sprintf "lease %d" r.number
    | Give_back true -> "give back"
    | Give_back false -> "give back, to dispose of"
    | Return _ -> "return"
    | Clear -> "clear"
    | Close -> "close"
    | Await_closed -> "await_closed"
    | Sizes -> "idle, in_use"

  let looks = [ Sizes ]
end
