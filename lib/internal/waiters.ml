(* Most queues hold one waiter: that one needs no list.

   Invariants: [front] is not empty; [size] counts [front] and [back], and is more
   than [gone]. *)
type 'w t =
  | Empty
  | One of 'w
  | Many of { front : 'w list; back : 'w list; size : int; gone : int }

let empty = Empty
let is_empty q = q == Empty

let length = function
  | Empty -> 0
  | One _ -> 1
  | Many { size; gone; _ } -> size - gone

let push q w =
  match q with
  | Empty -> One w
  | One first -> Many { front = [ first ]; back = [ w ]; size = 2; gone = 0 }
  | Many { front; back; size; gone } ->
      Many { front; back = w :: back; size = size + 1; gone }

let head = function
  | One w | Many { front = w :: _; _ } -> w
  | Empty | Many { front = []; _ } -> invalid_arg "Waiters.head: empty queue"

(* [front @ List.rev back], of which [gone] have withdrawn at most. *)
let make front back size gone =
  match (front, back) with
  | [], [] -> Empty
  | [ w ], [] -> One w
  | [], back -> (
      match List.rev back with
      | [ w ] -> One w
      | front -> Many { front; back = []; size; gone = Int.min gone (size - 1) }
      )
  | front, back -> Many { front; back; size; gone = Int.min gone (size - 1) }

let tail ~live = function
  | One _ -> Empty
  | Many { front = first :: front; back; size; gone } ->
      let gone = if gone > 0 && not (live first) then gone - 1 else gone in
      make front back (size - 1) gone
  | Empty | Many { front = []; _ } -> invalid_arg "Waiters.tail: empty queue"

let withdraw ~live q =
  match q with
  | Empty -> Empty
  | One w -> if live w then q else Empty
  | Many { front; back; size; gone } ->
      let gone = gone + 1 in
      if 2 * gone > size then
        let front = List.filter live front and back = List.filter live back in
        make front back (List.length front + List.length back) 0
      else Many { front; back; size; gone }

let iter f = function
  | Empty -> ()
  | One w -> f w
  | Many { front; back; _ } ->
      List.iter f front;
      List.iter f (List.rev back)
