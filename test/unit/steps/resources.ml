(* Pools and work queues, and descriptions of them. *)

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

let expected_pool ~log =
  (* The idle ones, each with a flag that is set if it is older than the last [Clear]. *)
  let idle = ref [] and held = ref 0 and closed = ref false in
  let users = ref [] and enders = ref [] in
  let rec pass outcome otherwise =
    match !users with
    | [] -> otherwise ()
    | w :: rest ->
        users := rest;
        if not (resume log w outcome) then pass outcome otherwise
  and resume_all queue outcome =
    let all = !queue in
    queue := [];
    List.iter (fun w -> ignore (resume log w outcome : bool)) all
  in
  let size () = !held + List.length !idle in
  let settle () = if !closed && size () = 0 then resume_all enders "()" in
  let may_take () = !closed || !idle <> [] || size () < limit in
  let act op n =
    match (op, !idle) with
    | Take, _ when !closed -> raise Pool.Closed
    | Take, (v, _) :: rest ->
        idle := rest;
        incr held;
        int v
    | Take, [] when size () < limit ->
        incr held;
        "to make"
    | Take, [] -> "none"
    | (Give | Gone), _ when !held = 0 -> "none is held"
    | Give, _ ->
        pass (int n) (fun () ->
            decr held;
            idle := (n, false) :: !idle);
        "()"
    | Gone, _ ->
        pass "to make" (fun () ->
            decr held;
            settle ());
        "()"
    | Close, _ when !closed -> "()"
    | Close, _ ->
        closed := true;
        resume_all users (Printexc.to_string Pool.Closed);
        settle ();
        "()"
    | Clear, _ ->
        idle := List.map (fun (v, _) -> (v, true)) !idle;
        "()"
    | Pick, all -> (
        match List.find_opt (fun (_, old) -> old || !closed) all with
        | None -> "none"
        | Some ((v, _) as picked) ->
            idle := List.filter (( != ) picked) all;
            incr held;
            int v)
  and enlist role number answer =
    let queue, may_pass =
      match role with
      | User -> (users, may_take ())
      | At_end -> (enders, !closed && size () = 0)
    in
    (not may_pass)
    && begin
      queue := !queue @ [ { role; number; answer } ];
      true
    end
  and withdraw number =
    users := without number !users;
    enders := without number !enders
  and look () =
    Printf.sprintf "%d, idle %s%s, %d wait" (size ())
      (String.concat " " (List.map (fun (v, _) -> int v) !idle))
      (if !closed then ", closed" else "")
      (List.length !users + List.length !enders)
  in
  expected { act; enlist; withdraw; look }

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
      make = (function Expected -> expected_pool | how -> real_pool how);
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
let expected_queue ~log =
  let items = ref [] and closed = ref false in
  let tickets = ref [] and adders = ref [] and takers = ref [] in
  let full () = List.length !items >= capacity in
  let rec serve () =
    match !adders with
    | w :: rest when not (full ()) ->
        adders := rest;
        let ticket = ref w.number in
        tickets := ticket :: !tickets;
        if resume log w "added" then items := !items @ [ ticket ];
        serve ()
    | _ -> ()
  and resume_all queue =
    let all = !queue in
    queue := [];
    let outcome = Printexc.to_string Work_queue.Closed in
    List.iter (fun w -> ignore (resume log w outcome : bool)) all
  in
  let rec put n =
    match !takers with
    | w :: rest ->
        takers := rest;
        resume log w (int n) || put n
    | [] -> false
  in
  let add n =
    let ticket = ref n in
    if not (put n) then items := !items @ [ ticket ];
    (* If a resumer raises, the ticket is lost. *)
    if not !struck then tickets := ticket :: !tickets;
    "added"
  in
  let act op n =
    match op with
    | (Add | Take) when !closed && (op = Add || !items = []) ->
        raise Work_queue.Closed
    | Add -> if full () then "none" else add n
    | Take -> (
        match !items with
        | v :: rest ->
            items := rest;
            serve ();
            int !v
        | [] -> "none")
    | Withdraw i -> (
        match List.nth_opt !tickets i with
        | None -> "no ticket"
        | Some ticket ->
            let is_there = List.memq ticket !items in
            items := List.filter (fun other -> other != ticket) !items;
            serve ();
            string_of_bool is_there)
    | Drain ->
        let all = List.map ( ! ) !items in
        items := [];
        serve ();
        list all
    | Close ->
        if not !closed then begin
          closed := true;
          resume_all adders;
          resume_all takers
        end;
        "()"
  and enlist role number answer =
    let queue, may_pass =
      match role with
      | Adder -> (adders, !closed || not (full ()))
      | Taker -> (takers, !closed || !items <> [])
    in
    (not may_pass)
    && begin
      queue := !queue @ [ { role; number; answer } ];
      true
    end
  and withdraw number =
    adders := without number !adders;
    takers := without number !takers
  and look () =
    Printf.sprintf "%s, %d%s, %d wait"
      (list (List.map ( ! ) !items))
      (List.length !items)
      (if !closed then ", closed" else "")
      (List.length !adders + List.length !takers)
  in
  expected { act; enlist; withdraw; look }

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
      make = (function Expected -> expected_queue | how -> real_queue how);
    }

let all = [ pool; queue ]
