(* Items are added to a stack, and taken from a list. A task that finds the list empty
   turns over what is on the stack by then, and takes all of it to the front in the step
   that takes its first item. So each operation changes one word, and adding touches the
   word of the other side only where there may be no room, or nobody waits.

   An item has a number, from 1 on. The top of the stack has that of the item that was
   added last; the front knows how many were taken to it. What is on the stack above that
   number is to be taken; what is below it was, and is cut off by the task that took it
   to the front, right after that step.

   [last]
   State          Left by          To                 By whom
   Node n         add            * Node n'            any task, below n' is n
                  a taker          Takers             the task that waits: it has found
                                                      the front at the number of n
                  seal           * Sealed n           a task that closes the stream, or
                                                      finds it closed
   Takers n, ws   add, ws = w::_ * Takers n, (ws - w), or Node n
                                                      any task; it calls w
                  a taker          Takers n, (ws, w)  the task that waits
                  cancelled taker  Takers n, (ws - w), or Node n
                                                      the task that enlisted w
                  seal           * Sealed n           the same; it calls all of ws
   Sealed n       never (terminal): no item comes after n

   The front: [first], in whose states (see [Stream]) there is one of
   State          Left by          To                 By whom
   Item (v, r)    take v         * r                  any task
   Bare i         take           * what was behind the item i + 1
                                                      any task, while the top of the
                                                      stack is above i; then it cuts
                                                      off that top

   * linearises the operation. One that waited is certain when its resumer answers
   [true].

   A task that turns the stack over may meet a node that was cut off: then the front is
   not what the task has read any more, nor ever will be again, as each [Bare] is a block
   of its own. So its compare-and-set fails, whatever it has read.

   The second parameter of the cells says which constructors may stand in a place. [last]
   and [first] hide it, without a block of their own: so a compare-and-set of two of
   them compares the cells. The language promises that of [@@unboxed]. *)

type ('a, _) added =
  | Node : {
      mutable value : 'a;  (** Erased when the node is cut off. *)
      mutable below : ('a, [ `Node ]) added;
          (** Nothing, if the node is cut off. *)
      index : int;
    }
      -> ('a, [> `Node ]) added
  | Takers : {
      top : ('a, [ `Node ]) added;
      takers : (unit, 'a) Waiters.t;
    }
      -> ('a, [> `Takers ]) added
  | Sealed : ('a, [ `Node ]) added -> ('a, [> `Sealed ]) added

type ('a, _) cell =
  | Bare : { taken : int } -> ('a, [> `Bare ]) cell
  | Item : {
      index : int;
      value : 'a;
      rest : ('a, [ `Bare | `Item ]) cell;
    }
      -> ('a, [> `Item ]) cell
  | Full : {
      front : ('a, [ `Bare | `Item ]) cell;
      adders : ('a, unit) Waiters.t;
    }
      -> ('a, [> `Full ]) cell
  | Moving : {
      front : ('a, [ `Bare | `Item ]) cell;
      adders : ('a, unit) Waiters.t;
      ended : bool;
    }
      -> ('a, [> `Moving ]) cell
  | Shut : ('a, [ `Bare | `Item ]) cell -> ('a, [> `Shut ]) cell

type 'a last = Last : ('a, [< `Node | `Takers | `Sealed ]) added -> 'a last
[@@unboxed]

type 'a first =
  | First : ('a, [< `Bare | `Item | `Full | `Moving | `Shut ]) cell -> 'a first
[@@unboxed]

type 'a node = ('a, [ `Node ]) added
type 'a front = ('a, [ `Bare | `Item ]) cell

type 'a t = {
  capacity : int;
  first : 'a first Atomic.t;
      (** Padded: takers write it while adders write [last]. *)
  last : 'a last Atomic.t;
  seen : int ref;
      (** How many items were taken once while no adder waited. An add that
          finds room by it need not read [first], which takers of another domain
          keep writing. Stores may be late, and old ones stay true. *)
}

let create ?(kind = "stream") ?name capacity =
  if capacity < 1 then
    invalid_arg
      "Stream.create: capacity < 1 (to pass items on without a buffer there is \
       Channel)";
  let nothing = Identity.nothing in
  let bottom = Node { value = nothing (); below = nothing (); index = 0 } in
  Labels.made ~kind ?name
    {
      capacity;
      first = Padded.atomic (First (Bare { taken = 0 }));
      last = Atomic.make (Last bottom);
      seen = ref 0;
    }

let top (Last added) : _ node =
  match added with
  | Node _ as n -> n
  | Takers { top; _ } -> top
  | Sealed top -> top

(* The front, whatever else happens there. *)
let front (First cell) : _ front =
  match cell with
  | Bare _ as front -> front
  | Item _ as front -> front
  | Full { front; _ } -> front
  | Moving { front; _ } -> front
  | Shut front -> front

let taken (front : _ front) =
  match front with Bare { taken } -> taken | Item { index; _ } -> index - 1

let index (Node { index; _ } : _ node) = index
let last_index t = index (top (Atomic.get t.last))

let with_takers top takers =
  if Waiters.is_empty takers then Last top else Last (Takers { top; takers })

(* --- Sealing -------------------------------------------------------------- *)

let rec seal t =
  match Atomic.get t.last with
  | Last (Node _ as top) as before ->
      if not (Atomic.compare_and_set t.last before (Last (Sealed top))) then
        seal t
  | Last (Takers { top; takers }) as before ->
      let round = Waiters.round takers Closed.outcome in
      if Atomic.compare_and_set t.last before (Last (Sealed top)) then
        Waiters.resume_all round
      else seal t
  | Last (Sealed _) -> ()

(* Owed once the stream is shut, whatever a signal handler raises: takers see only
   the seal. *)
let rec seal_within tries t =
  try seal t
  with e ->
    if tries > 0 then seal_within (tries - 1) t;
    raise e

let seal_shut t = seal_within 16 t

(* --- Adding --------------------------------------------------------------- *)

(* Adds [v] if there is room: [room] tells, for the number of the last item. While
   [last] stays, nothing is added: so if there was room there still is. If [resume]
   does not raise, an exception means that nothing was added. *)
let rec add_if room resume t v =
  match Atomic.get t.last with
  | Last (Node { index; _ } as below) as before ->
      room t index
      &&
      let n = Node { value = v; below; index = index + 1 } in
      Atomic.compare_and_set t.last before (Last n)
      ||
      (* another add, a taker, or closed *)
      add_if room resume t v
  | Last (Takers { top; takers }) as before ->
      room t (index top)
      &&
      let w = Waiters.head takers in
      let after = with_takers top (Waiters.tail takers) and outcome = Ok v in
      (Atomic.compare_and_set t.last before after && resume w outcome)
      ||
      (* another taker, a withdrawal, another add; or [w] refused *)
      add_if room resume t v
  | Last (Sealed _) ->
      Closed.by t;
      raise Closed.Closed

(* --- Taking --------------------------------------------------------------- *)

let[@inline] is_cut_off (below : _ node) = Identity.is_immediate below

(* What is on the stack above the number [taken], first one first, and then [rest]. *)
let rec turn_over (Node { value; below; index } : _ node) taken (rest : _ front)
    : _ front =
  if index <= taken then rest
  else
    let rest = Item { index; value; rest } in
    if index = taken + 1 || is_cut_off below then rest
    else turn_over below taken rest

let added top taken = turn_over top taken (Bare { taken = index top })

let rec values_above (Node { value; below; index } : _ node) taken values =
  if index <= taken then values
  else
    let values = value :: values in
    if index = taken + 1 || is_cut_off below then values
    else values_above below taken values

let rec values_of (front : _ front) top values =
  match front with
  | Item { value; rest; _ } -> values_of rest top (value :: values)
  | Bare { taken } -> List.rev_append values (values_above top taken [])

let values front top = values_of front top []

let cut_off (Node n : _ node) =
  n.value <- Identity.nothing ();
  n.below <- Identity.nothing ()

(* --- Waiting to take ------------------------------------------------------ *)

let rec enlist_taker t w =
  match front (Atomic.get t.first) with
  | Item _ -> false
  | Bare { taken } -> (
      match Atomic.get t.last with
      | Last (Node { index; _ } as top) as before ->
          index = taken
          &&
          let takers = Waiters.push Waiters.empty w in
          Atomic.compare_and_set t.last before (Last (Takers { top; takers }))
          ||
          (* added, another taker, or closed *)
          enlist_taker t w
      | Last (Takers { top; takers }) as before ->
          let takers = Waiters.push takers w in
          Atomic.compare_and_set t.last before (Last (Takers { top; takers }))
          ||
          (* added, another taker, a withdrawal, or closed *)
          enlist_taker t w
      | Last (Sealed _) -> false)

let rec withdraw_taker t w =
  match Atomic.get t.last with
  | Last (Takers { top; takers }) as before ->
      let after = with_takers top (Waiters.count_gone takers) in
      if not (Atomic.compare_and_set t.last before after) then
        withdraw_taker t w
  | Last (Node _ | Sealed _) -> ()
