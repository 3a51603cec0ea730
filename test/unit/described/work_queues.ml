open Results

module Of (Of : sig
  val capacity : int
end) =
struct
  include Work_queue_spec.Make (Of)

  (* The tickets by their items. *)
  type t = {
    queue : int Work_queue.t;
    tickets : (int * int Work_queue.ticket) list Atomic.t;
  }

  let create () =
    { queue = Work_queue.create Of.capacity; tickets = Atomic.make [] }

  let rec added t v ticket =
    let before = Atomic.get t.tickets in
    if Atomic.compare_and_set t.tickets before ((v, ticket) :: before) then "()"
    else added t v ticket

  let withdraw t v =
    match List.assoc_opt v (Atomic.get t.tickets) with
    | None -> false
    | Some ticket -> Work_queue.withdraw ticket

  let call ({ queue; _ } as t) operation =
    closed @@ fun () ->
    match operation with
    | Queue (Add v) -> added t v (Work_queue.add queue v)
    | Queue Take -> int (Work_queue.take queue)
    | Queue Drain -> String.concat " " (List.map int (Work_queue.drain queue))
    | Queue Close -> unit (Work_queue.close queue)
    | Queue Is_closed -> bool (Work_queue.is_closed queue)
    | Queue Length -> int (Work_queue.length queue)
    | Withdraw v -> bool (withdraw t v)
    | Get_ticket _ -> assert false (* not chosen *)

  let event ({ queue; _ } as t) = function
    | Queue (Add v) -> closing_event (added t v) (Work_queue.add_evt queue v)
    | Queue Take -> closing_event int (Work_queue.take_evt queue)
    | Queue (Drain | Close | Is_closed | Length) | Withdraw _ | Get_ticket _ ->
        None

  let try_call ({ queue; _ } as t) = function
    | Queue (Add v) ->
        tried_closing (fun () ->
            Option.map (added t v) (Work_queue.try_add queue v))
    | Queue Take ->
        tried_closing (fun () -> Option.map int (Work_queue.try_take queue))
    | Queue (Drain | Close | Is_closed | Length) | Withdraw _ | Get_ticket _ ->
        None

  let waiters t = Work_queue.waiters t.queue
end

module Of_two = Of (struct
  let capacity = 2
end)
