(* Pools, and what they should do. *)

open Compared

let int = string_of_int

(* --- Pool -------------------------------------------------------------------------- *)

type pool_op = Take | Give | Gone | Close | Pick
type pool_role = User | At_end

let limit = 3
let grant = function Pool.To_make -> "to make" | Idle v -> int v

(* What is disposed of is another matter: here the steps are compared. *)
let real_pool how ~log =
  let t = Pool.create limit (fun () -> 0) and waiters = waiters log in
  let act op n =
    let is_held () = Pool.in_use t > 0 in
    match op with
    | Take -> some grant (perform how t Pool.take_step ())
    | (Give | Gone) when not (is_held ()) -> "none is held"
    | Give -> some unit (perform how t Pool.give_step n)
    | Gone -> some unit (perform how t Pool.gone_step ())
    | Close -> some unit (perform how t Pool.close_step ())
    | Pick -> some int (perform how t Pool.take_idle_step ())
  and enlist role number =
    match role with
    | User -> enlist waiters Pool.taking grant t () number
    | At_end -> enlist waiters Pool.awaiting unit t () number
  and look () =
    Printf.sprintf "%d, idle %s%s, %d wait" (Pool.size t)
      (String.concat " " (List.map int (Atomic.get t).idle))
      (if Pool.is_closed t then ", closed" else "")
      (Pool.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

let expected_pool ~log =
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
    | Take, v :: rest ->
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
            idle := n :: !idle);
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
    | Pick, v :: rest when !closed ->
        idle := rest;
        incr held;
        int v
    | Pick, _ -> "none"
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
      (String.concat " " (List.map int !idle))
      (if !closed then ", closed" else "")
      (List.length !users + List.length !enders)
  in
  expected { act; enlist; withdraw; look }

let pool =
  Structure
    {
      name = "Pool";
      ops =
        [| Take; Take; Take; Take; Give; Give; Give; Gone; Gone; Pick; Close |];
      roles = [| User; User; User; At_end |];
      make = (function Expected -> expected_pool | how -> real_pool how);
    }

let all = [ pool ]
