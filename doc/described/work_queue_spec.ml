open Description

module Make (Of : sig
  val capacity : int
end) =
struct
  module Queue = Stream_spec.Make (struct
    include Of

    let name = "queue"
  end)

  (* An item can be withdrawn only once its task has the ticket. *)
  type state = { queue : Queue.state; tickets : int list }

  type operation =
    | Queue of Queue.operation
    | Get_ticket of int  (** The end of an addition. *)
    | Withdraw of int  (** By the ticket of this item. *)

  let name = Printf.sprintf "Work_queue of %d" Of.capacity
  let initial = { queue = Queue.initial; tickets = [] }

  let operations n =
    List.map (fun operation -> Queue operation) (Queue.operations n)
    @ [ Withdraw (n - 1); Withdraw (n - 2); Withdraw (n / 2) ]

  let line = function
    | Queue operation -> Queue.line operation
    | Get_ticket _ | Withdraw _ -> None

  let perform ~waiting:_ s operation =
    let items = s.queue.items in
    match operation with
    | Get_ticket v -> Returns ({ s with tickets = v :: s.tickets }, "()")
    | Withdraw v when List.mem v s.tickets && List.mem v items ->
        let items = List.filter (( <> ) v) items in
        Returns ({ s with queue = { s.queue with items } }, "true")
    | Withdraw _ -> Returns (s, "false")
    | Queue operation -> (
        match (operation, Queue.perform ~waiting:[] s.queue operation) with
        | Add v, Returns (queue, "()") ->
            Continues ({ s with queue }, Get_ticket v)
        | _, Returns (queue, result) -> Returns ({ s with queue }, result)
        | _, (Waits | Continues _ | Wakes_one _ | Wakes_all _) -> Waits)

  let if_cancelled _ = Leaves

  (* The item of a task that waited comes into the queue a little later. *)
  let beside = function
    | Queue (Add _ | Take) -> May_miss
    | Queue (Close | Is_closed) -> Exact
    | Queue (Drain | Length) | Withdraw _ -> Exact_alone
    | Get_ticket _ -> Inexact

  let show = function
    | Queue operation -> Queue.show operation
    | Get_ticket v -> Printf.sprintf "get the ticket of %d" v
    | Withdraw v -> Printf.sprintf "withdraw %d" v

  let looks = List.map (fun operation -> Queue operation) Queue.looks
end
