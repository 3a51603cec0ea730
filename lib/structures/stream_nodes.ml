(* The queue is that of Michael and Scott (PODC 1996). The first node was taken already;
   the items are in those behind it. A taker that must wait does so in the last node.

   [next] of a node
   State        Left by          To                By whom
   End          add            * Node              any task; then it advances [last]
                a taker          Takers [w]        the task that waits
                seal           * Sealed            a task that closes the stream, or
                                                   finds it closed
   Takers ws    add, ws = w::_ * Takers (ws - w), or End
                                                   any task; it calls w
                a taker          Takers (ws, w)    the task that waits
                cancelled taker  Takers (ws - w), or End
                                                   the task that enlisted w
                seal           * Sealed            the same; it calls all of ws
   Node         sever            Severed           the task that moved [first] on from
                                                   this node, if the node is one of
                                                   those to be cut off
   Sealed       never (terminal): the stream ends here
   Severed      never (terminal): neither [first] nor [last] is at this node any more

   [last]: a node that is the last one or was; a task that finds that the node has a
   successor advances [last].

   * linearises the operation. One that waited is certain when its resumer answers
   [true].

   The second parameter of [cell] says which constructors may stand in a place. [next]
   and [first] hide it, without a block of their own: so a compare-and-set of two of
   them compares the cells. The language promises that of [@@unboxed]. *)
type ('a, _) cell =
  | Node : {
      mutable value : 'a;  (** Erased once it is taken. *)
      next : 'a next Atomic.t;
      index : int;
    }
      -> ('a, [> `Node ]) cell
  | End : ('a, [> `End ]) cell
  | Takers : (unit, 'a) Waiters.t -> ('a, [> `Takers ]) cell
  | Sealed : ('a, [> `Sealed ]) cell
  | Severed : ('a, [> `Severed ]) cell
  | Full : {
      first : ('a, [ `Node ]) cell;
      adders : ('a, unit) Waiters.t;
    }
      -> ('a, [> `Full ]) cell
  | Moving : {
      first : ('a, [ `Node ]) cell;
      adders : ('a, unit) Waiters.t;
      ended : bool;
    }
      -> ('a, [> `Moving ]) cell
  | Shut : ('a, [ `Node ]) cell -> ('a, [> `Shut ]) cell

and 'a next =
  | Next :
      ('a, [< `Node | `End | `Takers | `Sealed | `Severed ]) cell
      -> 'a next
[@@unboxed]

type 'a first =
  | First : ('a, [< `Node | `Full | `Moving | `Shut ]) cell -> 'a first
[@@unboxed]

type 'a node = ('a, [ `Node ]) cell

type 'a t = {
  capacity : int;
  first : 'a first Atomic.t;
  last : 'a node Atomic.t;
  seen : int ref;
      (** The index of a node that was the first while no adder waited. An add
          that finds room by it need not read [first], which takers of another
          domain keep writing. Stores may be late, and old ones stay true. *)
}

let node value index : _ node =
  Node { value; next = Atomic.make (Next End); index }

let create ?(kind = "stream") ?name capacity =
  if capacity < 1 then
    invalid_arg
      "Stream.create: capacity < 1 (to pass items on without a buffer there is \
       Channel)";
  (* Nobody reads the value of the first node. *)
  let first = node (Identity.nothing ()) 0 in
  Labels.made ~kind ?name
    {
      capacity;
      first = Atomic.make (First first);
      last = Atomic.make first;
      seen = ref 0;
    }

(* The first node, whatever happens at the front. *)
let front (First cell) : _ node =
  match cell with
  | Node _ as n -> n
  | Full { first; _ } -> first
  | Moving { first; _ } -> first
  | Shut first -> first

let index (Node { index; _ } : _ node) = index

let advance t before after =
  ignore (Atomic.compare_and_set t.last before after : bool)

let takers waiters =
  if Waiters.is_empty waiters then Next End else Next (Takers waiters)

(* --- Sealing -------------------------------------------------------------- *)

let rec seal t =
  let (Node { next; _ } as last : _ node) = Atomic.get t.last in
  match Atomic.get next with
  | Next End ->
      if not (Atomic.compare_and_set next (Next End) (Next Sealed)) then seal t
  | Next (Takers waiters) as before ->
      let round = Waiters.round waiters Closed.outcome in
      if Atomic.compare_and_set next before (Next Sealed) then
        Waiters.resume_all round
      else seal t
  | Next (Node _ as n) ->
      advance t last n;
      seal t
  | Next Severed -> seal t
  | Next Sealed -> ()

(* Owed once the stream is shut, whatever a signal handler raises: takers see only
   the seal. *)
let rec seal_within tries t =
  try seal t
  with e ->
    if tries > 0 then seal_within (tries - 1) t;
    raise e

let seal_shut t = seal_within 16 t

(* --- Adding at the end ---------------------------------------------------- *)

(* Adds [v] if there is room: [room] tells, for the index of the last node. The
   node that is found to be the last one still is when this changes it: so nothing
   was added meanwhile, and if there was room there still is. If [resume] does not raise,
   an exception means that nothing was added. *)
let rec add_if room resume t v =
  let (Node { next; index; _ } as last : _ node) = Atomic.get t.last in
  match Atomic.get next with
  | Next End ->
      room t index
      &&
      let n = node v (index + 1) in
      if Atomic.compare_and_set next (Next End) (Next n) then begin
        advance t last n;
        true
      end
      else (* another add, a taker, or closed *) add_if room resume t v
  | Next (Takers waiters) as before ->
      room t index
      &&
      let w = Waiters.head waiters in
      let after = takers (Waiters.tail waiters) and outcome = Ok v in
      (Atomic.compare_and_set next before after && resume w outcome)
      ||
      (* another taker, a withdrawal, another add; or [w] refused *)
      add_if room resume t v
  | Next (Node _ as n) ->
      advance t last n;
      add_if room resume t v
  | Next Severed ->
      (* [last] is another one by now *)
      add_if room resume t v
  | Next Sealed ->
      Closed.by t;
      raise Closed.Closed

let rec last_index t =
  let (Node { next; index; _ } as last : _ node) = Atomic.get t.last in
  match Atomic.get next with
  | Next (Node _ as n) ->
      advance t last n;
      last_index t
  | Next Severed -> last_index t
  | Next (End | Takers _ | Sealed) -> index

(* --- Taking from the front ------------------------------------------------ *)

(* A node that the collector has moved to its old generation would keep all later
   ones alive until its next full collection. So some are cut off. *)
let[@inline never] sever t (Node { next; _ } as n : _ node) after =
  if Atomic.get t.last == n then advance t n after;
  Atomic.set next (Next Severed)

let sever_next t (Node { next; _ } as n : _ node) =
  match Atomic.get next with
  | Next (Node _ as after) -> sever t n after
  | Next (End | Takers _ | Sealed | Severed) -> ()

(* [first] has moved on from [n]: the item in the next node is the caller's. *)
let[@inline] take_out t (Node { index; _ } as n : _ node)
    (Node taken as after : _ node) =
  let v = taken.value in
  taken.value <- Identity.nothing ();
  if index land 63 = 0 then sever t n after;
  v

(* Those behind [first], last one first, and the last node. *)
let rec collect (Node { next; _ } as n : _ node) items =
  match Atomic.get next with
  | Next (Node { value; _ } as n') -> collect n' (value :: items)
  | Next (End | Takers _ | Sealed | Severed) -> (n, items)

(* --- Waiting to take ------------------------------------------------------ *)

let rec enlist_taker t w =
  let (Node { next; _ } : _ node) = front (Atomic.get t.first) in
  match Atomic.get next with
  | Next End ->
      let waiters = Waiters.push Waiters.empty w in
      Atomic.compare_and_set next (Next End) (Next (Takers waiters))
      ||
      (* added, another taker, or closed *)
      enlist_taker t w
  | Next (Takers waiters) as before ->
      let waiters = Waiters.push waiters w in
      Atomic.compare_and_set next before (Next (Takers waiters))
      ||
      (* added, another taker, a withdrawal, or closed *)
      enlist_taker t w
  | Next (Node _ | Sealed) -> false
  | Next Severed -> (* [first] is another one by now *) enlist_taker t w

(* While a task waits to take, the first node is the last one. *)
let rec withdraw_taker t w =
  let (Node { next; _ } : _ node) = front (Atomic.get t.first) in
  match Atomic.get next with
  | Next (Takers waiters) as before ->
      let after = takers (Waiters.count_gone waiters) in
      if not (Atomic.compare_and_set next before after) then withdraw_taker t w
  | Next (End | Node _ | Sealed) -> ()
  | Next Severed -> (* [first] is another one by now *) withdraw_taker t w
