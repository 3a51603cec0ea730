(* A scene: an operation, one way to wait, and the results so far. *)

open Check
open Operations

let ints what = Alcotest.(check (list int)) what

type scene = {
  service : service;
  remembers : bool;
  place : int place;
  wait : int -> int;
  mutable given : int list;  (** By [wake], last one first. *)
  served : (int * int) list Atomic.t;
      (** The waiters that have continued, last one first, and the value that
          each has got. This is an Atomic because a waiter may continue on
          another domain. Only one task writes at a time. *)
}

let waiting s n = int "waiters" n (s.place.waiters ())
let wake s = s.given <- s.place.wake () :: s.given
let one_by_one service = service = Takes || service = Gives

(* The value of an alternative that doesn't belong to the structure. *)
let other = -1

(* The name of a waiter is the value that it gives. *)
let task ?wait s name () =
  let v = Option.value wait ~default:s.wait name in
  if v <> other then Atomic.set s.served ((name, v) :: Atomic.get s.served)

let start ?wait s name = Hand.start (task ?wait s name)
let names n = List.init n (fun i -> 10 * (i + 1))
let cancel task = yes "cancel" (Hand.cancel task)

(* Wakes [n] waiters. With [~settled], each continues before the next one is woken. *)
let wake_all ?(settled = true) s n =
  for _ = 1 to if one_by_one s.service then n else 1 do
    wake s;
    if settled then Hand.settle ()
  done;
  Hand.settle ()

(* The values that these waiters get, in this order, and the values that remain. *)
let expected s names =
  let given = List.rev s.given and n = List.length names in
  let zeros = List.map (fun _ -> 0) names in
  let kept values = if s.remembers then values else [] in
  match (s.service, List.rev names) with
  | Takes, _ ->
      ( List.filteri (fun i _ -> i < n) given,
        kept (List.filteri (fun i _ -> i >= n) given) )
  | Gives, _ -> (zeros, names)
  | Shares, _ -> (List.map (fun _ -> List.hd given) names, kept given)
  | Meets, _ -> (zeros, [])
  | Passes, [] -> ([], given)
  | Passes, last :: before -> (given @ List.rev before, [ last ])

(* Checks that these waiters and no others were served, in this order, and that no value was
   lost. *)
let served s names =
  let results, left = expected s names in
  ints "served waiters" names (List.rev_map fst (Atomic.get s.served));
  ints "their values" results (List.rev_map snd (Atomic.get s.served));
  waiting s 0;
  ints "remaining values" left (s.place.left ())
