(* Pools and work queues. *)

open Compared

let int = string_of_int

(* --- Pool -------------------------------------------------------------------------- *)

type pool_op = Take | Give | Gone | Close | Clear | Pick
type pool_role = User | At_end

let limit = 3
let grant = function Pool.To_make -> "to make" | Idle item -> int item.v

(* Compares only the steps, which don't dispose of resources. *)
let real_pool how ~log =
  let t = Pool.create limit (fun () -> 0) and waiters = waiters log in
  let unknown = Holders.unknown and never = max_int in
  let item v =
    let epoch = (Atomic.get t).rare.epoch in
    { Pool.v; epoch; dies = never; until = never; holder = unknown }
  and number (item : int Pool.item) = int item.v in
  let act op n =
    let is_held () = Pool.in_use t > 0 in
    match op with
    | Take -> some grant (perform how t Pool.take_step unknown)
    | (Give | Gone) when not (is_held ()) -> "none is held"
    | Give -> some unit (perform how t Pool.give_step (item n))
    | Gone -> some unit (perform how t Pool.gone_step unknown)
    | Close -> some unit (perform how t Pool.close_step ())
    | Clear -> some unit (perform how t Pool.clear_step ())
    | Pick -> some number (perform how t Pool.take_old_step ())
  and enlist role number =
    match role with
    | User -> enlist waiters Pool.taking grant t unknown number
    | At_end -> enlist waiters Pool.awaiting unit t () number
  and look () =
    Printf.sprintf "%d, idle %s%s, %d wait" (Pool.size t)
      (String.concat " " (List.map number (Atomic.get t).idle))
      (if Pool.is_closed t then ", closed" else "")
      (Pool.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

let pool =
  Structure
    {
      name = "Pool";
      ops =
        [|
          Take;
          Take;
          Take;
          Take;
          Give;
          Give;
          Give;
          Gone;
          Gone;
          Pick;
          Clear;
          Close;
        |];
      roles = [| User; User; User; At_end |];
      make = real_pool;
      expected = None;
    }

(* --- Work_queue ---------------------------------------------------------------------- *)

type queue_op =
  | Add
  | Take
  | Withdraw of int  (** Withdraws one of the added items. *)
  | Drain
  | Close

type queue_role = Adder | Taker

let capacity = 3
let list vs = "[" ^ String.concat " " (List.map int vs) ^ "]"

let real_queue how ~log =
  let t = Work_queue.create capacity and waiters = waiters log in
  (* The newest ticket comes first. *)
  let tickets = ref [] in
  let added number =
    tickets := { Work_queue.queue = t; number } :: !tickets;
    "added"
  in
  let act op n =
    match (op, how) with
    | Add, Publicly -> (
        match Work_queue.try_add t n with
        | Some { number; _ } -> added number
        | None -> "none")
    | Add, _ -> some added (perform how t Work_queue.add_step n)
    | Take, Publicly -> some int (Work_queue.try_take t)
    | Take, _ -> some int (perform how t Work_queue.take_step ())
    | Withdraw i, _ -> (
        match (List.nth_opt !tickets i, how) with
        | None, _ -> "no ticket"
        | Some ticket, Publicly -> string_of_bool (Work_queue.withdraw ticket)
        | Some { number; _ }, _ ->
            some string_of_bool (perform how t Work_queue.withdraw_step number))
    | Drain, Publicly -> list (Work_queue.drain t)
    | Drain, _ -> some list (perform how t Work_queue.drain_step ())
    | Close, Publicly -> unit (Work_queue.close t)
    | Close, _ -> some unit (perform how t Work_queue.close_step ())
  and enlist role number answer =
    match role with
    | Adder -> enlist waiters Work_queue.adding added t number number answer
    | Taker -> enlist waiters Work_queue.taking int t () number answer
  and look () =
    let s = Atomic.get t in
    Printf.sprintf "%s, %d%s, %d wait"
      (list (List.map snd (Work_queue.Items.bindings s.items)))
      (Work_queue.length t)
      (if Work_queue.is_closed t then ", closed" else "")
      (Work_queue.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

(* An item is a reference to its value, which also serves as its ticket. The newest ticket
   comes first. *)

let queue =
  Structure
    {
      name = "Work_queue";
      ops =
        [|
          Add;
          Add;
          Add;
          Add;
          Take;
          Take;
          Withdraw 0;
          Withdraw 1;
          Withdraw 2;
          Withdraw 5;
          Drain;
          Close;
        |];
      roles = [| Adder; Taker |];
      make = real_queue;
      expected = None;
    }

let all = [ pool; queue ]
