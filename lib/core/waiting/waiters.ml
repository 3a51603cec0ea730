(* Most queues hold one waiter, which needs no list.

   When [front] is used up, [back] has to be reversed. A compare-and-set loop that reverses it
   would do so again after every failed attempt. So a long [back] is put into the queue as it
   is, and the first task that needs its order reverses it. All later versions of the queue
   share the [turned] record, so it is reversed once.

   Invariants: [front] and [turned] are not empty. [size] counts them and [back], and is at
   least twice [withdrawn]. *)
type ('x, 'a) order =
  | Backward of ('x, 'a) Waiter.t list
  | Forward of ('x, 'a) Waiter.t list

(* The field is not atomic. Several tasks may reverse the list at once, but they store equal
   lists. *)
type ('x, 'a) turned = { mutable order : ('x, 'a) order }

type ('x, 'a) t =
  | Empty
  | One of ('x, 'a) Waiter.t
  | Many of {
      front : ('x, 'a) Waiter.t list;
      back : ('x, 'a) Waiter.t list;
      size : int;
      withdrawn : int;
    }
  | Turned of {
      turned : ('x, 'a) turned;
      back : ('x, 'a) Waiter.t list;
      size : int;
      withdrawn : int;
    }

(* Not inlined, so that ThreadSanitizer's suppression names it. *)
let[@inline never] turn turned =
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
  | Many { size; withdrawn; _ } | Turned { size; withdrawn; _ } ->
      size - withdrawn

let size = function
  | Empty -> 0
  | One _ -> 1
  | Many { size; _ } | Turned { size; _ } -> size

let push q w =
  match q with
  | Empty -> One w
  | One first ->
      Many { front = [ first ]; back = [ w ]; size = 2; withdrawn = 0 }
  | Many { front; back; size; withdrawn } ->
      Many { front; back = w :: back; size = size + 1; withdrawn }
  | Turned { turned; back; size; withdrawn } ->
      Turned { turned; back = w :: back; size = size + 1; withdrawn }

let push_first q w =
  match q with
  | Empty -> One w
  | One first ->
      Many { front = [ w; first ]; back = []; size = 2; withdrawn = 0 }
  | Many { front; back; size; withdrawn } ->
      Many { front = w :: front; back; size = size + 1; withdrawn }
  | Turned { turned; back; size; withdrawn } ->
      Many { front = w :: turn turned; back; size = size + 1; withdrawn }

let first_of_many = function
  | One w | Many { front = w :: _; _ } -> w
  | Turned { turned; _ } -> List.hd (turn turned)
  | Empty | Many { front = []; _ } ->
      invalid_arg "Waiters.head: the queue is empty"

let[@inline] head q = match q with One w -> w | _ -> first_of_many q

(* A queue of so few waiters is reversed at once, and searched for withdrawn waiters. The
   number of these is not exact. If a waiter withdraws while it is taken out, it may be counted
   among those that stay, or not at all. *)
let few = 8

(* The queue of [front @ List.rev back]. *)
let make front back size withdrawn =
  match (front, back) with
  | [], [] -> Empty
  | [ w ], [] | [], [ w ] -> One w
  | [], back when size <= few ->
      Many { front = List.rev back; back = []; size; withdrawn }
  | [], back ->
      Turned { turned = { order = Backward back }; back = []; size; withdrawn }
  | front, back -> Many { front; back; size; withdrawn }

let without_withdrawn front back size withdrawn =
  if withdrawn > 0 && (size <= few || 2 * withdrawn > size) then
    let front = List.filter Waiter.is_live front
    and back = List.filter Waiter.is_live back in
    make front back (List.length front + List.length back) 0
  else make front back size withdrawn

let rec rest_of_many = function
  | One _ -> Empty
  | Many { front = first :: front; back; size; withdrawn } ->
      let withdrawn =
        if withdrawn > 0 && not (Waiter.is_live first) then withdrawn - 1
        else withdrawn
      in
      without_withdrawn front back (size - 1) withdrawn
  | Turned { turned; back; size; withdrawn } ->
      rest_of_many (Many { front = turn turned; back; size; withdrawn })
  | Empty | Many { front = []; _ } ->
      invalid_arg "Waiters.tail: the queue is empty"
[@@inline never]

let[@inline never] tail_of_many = function
  | Many { front = _ :: (_ :: _ as front); back; size; withdrawn = 0 } ->
      Many { front; back; size = size - 1; withdrawn = 0 }
  | q -> rest_of_many q

let[@inline] tail q = match q with One _ -> Empty | _ -> tail_of_many q

(* The waiter that came last is often the one that leaves, for example if a task waits behind
   others with a timeout. In that case nothing of it stays in the queue. *)
let rec drop_last back size withdrawn =
  match back with
  | w :: back when size > few && withdrawn > 0 && not (Waiter.is_live w) ->
      drop_last back (size - 1) (withdrawn - 1)
  | _ -> (back, size, withdrawn)

let count_withdrawn q =
  match q with
  | Empty -> Empty
  | One w -> if Waiter.is_live w then q else Empty
  | Many { front; back; size; withdrawn } ->
      let back, size, withdrawn = drop_last back size (withdrawn + 1) in
      without_withdrawn front back size withdrawn
  | Turned { turned; back; size; withdrawn } ->
      let back, size, withdrawn = drop_last back size (withdrawn + 1) in
      if 2 * withdrawn > size then
        without_withdrawn (turn turned) back size withdrawn
      else Turned { turned; back; size; withdrawn }

let to_list = function
  | Empty -> []
  | One w -> [ w ]
  | Many { front; back = []; _ } -> front
  | Many { front; back; _ } -> front @ List.rev back
  | Turned { turned; back = []; _ } -> turn turned
  | Turned { turned; back; _ } -> turn turned @ List.rev back

let iter f q = List.iter f (to_list q)
let exists f q = List.exists f (to_list q)
