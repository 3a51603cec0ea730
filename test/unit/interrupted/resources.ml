(* Pools. *)

open Concord
open Kit

(* To look at one is to see how many are in use or not accounted for, and that a full round works. An
   interrupted use has made a resource, disposed of it, or done neither: all of that is right. *)
let pool ?(idle = 0) ?(valid = true) ?(used = false) ?(closed = false) ?waiting
    perform =
  let made = ref 0 and disposed = ref 0 and valid_now = ref true in
  let make () =
    incr made;
    !made
  and validate _ = !valid_now
  and dispose _ = incr disposed in
  let limit = Int.max 1 idle in
  let t = Pool.create ~validate ~dispose ~keep_after:(( == ) Boom) limit make in
  List.iter (Pool.give_back t) (List.init idle (fun _ -> Pool.obtain t));
  let taken = ref (if used then [ Pool.obtain t ] else []) in
  if closed then Pool.close t;
  valid_now := valid;
  let give_back t =
    let all = !taken in
    taken := [];
    List.iter (Pool.give_back t) all
  in
  let before t =
    give_back t;
    []
  and left t =
    let lost = !made - !disposed - Pool.size t in
    let round =
      if Pool.is_closed t then [ Kit.closed; Pool.size t ]
      else if Pool.in_use t = Pool.capacity t then [ Scene.none ]
      else [ Pool.use t (fun _ -> 1) ]
    in
    Pool.in_use t :: lost :: round
  in
  around t ?waiting ~before ~waiters:Pool.waiters ~left perform

let uses t = come (fun () -> Pool.use t (fun _ -> 1))
let refuses t = refuses_for (fun t -> Pool.use_evt t (fun _ -> 1)) t
let awaits = waits Pool.await_closed
let refuses_to_await = Kit.refuses Pool.await_closed_evt

let pools =
  let using =
    [
      ("Pool.use", fun t -> Pool.use t nothing);
      ( "Pool.use, raising",
        fun t -> raising (fun t f -> Pool.use t (fun _ -> f ())) t );
      ( "Pool.use, failing",
        fun t ->
          match Pool.use t (fun _ -> raise Not_found) with
          | v -> v
          | exception Not_found -> [] );
      ( "Pool.use, others come",
        fun t -> Pool.use t (fun _ -> arrive [ uses; refuses; uses ] t) );
    ]
    @ as_event "Pool.use" (fun t -> Pool.use_evt t nothing)
  and closing = [ ("Pool.close", silent Pool.close) ]
  and waiting = [ refuses; uses; refuses; uses ] in
  in_state "none was made" pool using
  @ in_state "one is idle" (pool ~idle:1) using
  @ in_state "several are idle" (pool ~idle:3) using
  @ in_state "one is not valid" (pool ~idle:1 ~valid:false) using
  @ in_state "closed" (pool ~closed:true)
      [
        ("Pool.use", fun t -> [ or_closed (fun () -> Pool.use t (fun _ -> 1)) ]);
      ]
  @ in_state "none was made" pool closing
  @ in_state "three are idle" (pool ~idle:3) closing
  @ in_state "one is used, others wait"
      (pool ~used:true ~waiting:(awaits :: refuses_to_await :: waiting))
      closing
  @ in_state "closed" (pool ~closed:true)
      (closing
      @ [ ("Pool.await_closed", silent Pool.await_closed) ]
      @ as_event "Pool.await_closed" (unit Pool.await_closed_evt))

let cases = pools
