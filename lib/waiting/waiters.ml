(* Most queues hold one waiter: that one needs no list.

   When [front] is used up, [back] is to be reversed. Reversing it inside a
   compare-and-set loop would be repeated on every failed attempt. So a long [back] is
   put into the queue as it is, to be turned by the first task that looks; all later
   versions of the queue share the [turned] record, so that it is turned once.

   Invariants: [front] and [turned] are not empty; [size] counts them and [back], and
   is at least twice [gone]. *)
type ('x, 'a) order =
  | Backward of ('x, 'a) Waiter.t list
  | Forward of ('x, 'a) Waiter.t list

(* Plain, although several tasks may turn it at once: they store equal lists. *)
type ('x, 'a) turned = { mutable order : ('x, 'a) order }

type ('x, 'a) t =
  | Empty
  | One of ('x, 'a) Waiter.t
  | Many of {
      front : ('x, 'a) Waiter.t list;
      back : ('x, 'a) Waiter.t list;
      size : int;
      gone : int;
    }
  | Turned of {
      turned : ('x, 'a) turned;
      back : ('x, 'a) Waiter.t list;
      size : int;
      gone : int;
    }

let turn turned =
  match turned.order with
  | Forward waiters -> waiters
  | Backward waiters ->
      let waiters = List.rev waiters in
      turned.order <- Forward waiters;
      waiters

let empty = Empty
let is_empty q = q == Empty

let length = function
  | Empty -> 0
  | One _ -> 1
  | Many { size; gone; _ } | Turned { size; gone; _ } -> size - gone

let push q w =
  match q with
  | Empty -> One w
  | One first -> Many { front = [ first ]; back = [ w ]; size = 2; gone = 0 }
  | Many { front; back; size; gone } ->
      Many { front; back = w :: back; size = size + 1; gone }
  | Turned { turned; back; size; gone } ->
      Turned { turned; back = w :: back; size = size + 1; gone }

let push_first q w =
  match q with
  | Empty -> One w
  | One first -> Many { front = [ w; first ]; back = []; size = 2; gone = 0 }
  | Many { front; back; size; gone } ->
      Many { front = w :: front; back; size = size + 1; gone }
  | Turned { turned; back; size; gone } ->
      Many { front = w :: turn turned; back; size = size + 1; gone }

let first_of_many = function
  | One w | Many { front = w :: _; _ } -> w
  | Turned { turned; _ } -> List.hd (turn turned)
  | Empty | Many { front = []; _ } -> invalid_arg "Waiters.head: empty queue"

let[@inline] head q = match q with One w -> w | _ -> first_of_many q

(* A queue of so few is reversed at once, and searched for waiters that are gone. The
   count of these is not exact: a waiter that withdraws while it is taken out may be
   counted among those that stay, or not at all. *)
let few = 8

(* [front @ List.rev back]. *)
let make front back size gone =
  match (front, back) with
  | [], [] -> Empty
  | [ w ], [] | [], [ w ] -> One w
  | [], back when size <= few ->
      Many { front = List.rev back; back = []; size; gone }
  | [], back ->
      Turned { turned = { order = Backward back }; back = []; size; gone }
  | front, back -> Many { front; back; size; gone }

let without_gone front back size gone =
  if gone > 0 && (size <= few || 2 * gone > size) then
    let front = List.filter Waiter.is_live front
    and back = List.filter Waiter.is_live back in
    make front back (List.length front + List.length back) 0
  else make front back size gone

let[@inline] is_gone w = not (Waiter.is_live w)

let rec rest_of_many = function
  | One _ -> Empty
  | Many { front = first :: front; back; size; gone } ->
      let gone = if gone > 0 && is_gone first then gone - 1 else gone in
      without_gone front back (size - 1) gone
  | Turned { turned; back; size; gone } ->
      rest_of_many (Many { front = turn turned; back; size; gone })
  | Empty | Many { front = []; _ } -> invalid_arg "Waiters.tail: empty queue"

let[@inline] tail q = match q with One _ -> Empty | _ -> rest_of_many q

(* The waiter that came last is often the one that leaves, as a task that waits behind others
   with a limit of time: then nothing of it is left. *)
let rec drop_last back size gone =
  match back with
  | w :: back when size > few && gone > 0 && is_gone w ->
      drop_last back (size - 1) (gone - 1)
  | _ -> (back, size, gone)

let count_gone q =
  match q with
  | Empty -> Empty
  | One w -> if Waiter.is_live w then q else Empty
  | Many { front; back; size; gone } ->
      let back, size, gone = drop_last back size (gone + 1) in
      without_gone front back size gone
  | Turned { turned; back; size; gone } ->
      let back, size, gone = drop_last back size (gone + 1) in
      if 2 * gone > size then without_gone (turn turned) back size gone
      else Turned { turned; back; size; gone }

let rec iter f = function
  | Empty -> ()
  | One w -> f w
  | Many { front; back; _ } ->
      List.iter f front;
      List.iter f (List.rev back)
  | Turned { turned; back; size; gone } ->
      iter f (Many { front = turn turned; back; size; gone })

let rec exists f = function
  | Empty -> false
  | One w -> f w
  | Many { front; back; _ } -> List.exists f front || List.exists f back
  | Turned { turned; back; size; gone } ->
      exists f (Many { front = turn turned; back; size; gone })

let to_list = function
  | Empty -> []
  | One w -> [ w ]
  | Many { front; back = []; _ } -> front
  | Many { front; back; _ } -> front @ List.rev back
  | Turned { turned; back = []; _ } -> turn turned
  | Turned { turned; back; _ } -> turn turned @ List.rev back
