(* A bounded queue. Items are added to a stack, and taken from a list, the front. A task that
   finds the front empty turns over the items that are on the stack by then. The change that
   takes its own item makes the others the new front. So each operation changes one word,
   [last] or [first]. Adding reads [first] only if there may be no room, and taking reads
   [last] only if the front is empty.

   Items are numbered from 1. The top of the stack has the number of the item that was added
   last, and the front knows how many items were taken to it. Nodes above that number have
   still to be taken. The other nodes were taken, and the task that took them to the front cuts
   them off right after that.

   [last]
   State          Left by          To                 By whom
   Node n         add            * Node n'            any task; n is below n'
                  a taker          Takers n, [w]      the task that waits, if the front
                                                      is empty at the number of n
                  seal           * Sealed n           a task that closes the stream, or
                                                      finds it closed
                  renew            Renewed n          a task whose item has come back to
                                                      [first]
   Renewed n      as Node n, and each change is a new block
   Takers n, ws   add            * Takers n, (ws - w), or Node n
                                                      any task; it resumes w
                  seal           * Sealed n           as above; it resumes all of ws
                  take_back      * Takers n, (ws - w), or Node n
                                                      a task whose item comes back; it
                                                      resumes w
   Sealed n       never (terminal): no item comes after n

   [first]. Each of its states has a front.
   State          Left by          To                 By whom
   Bare, Item,    take           * Bare, Item, Returned
   Returned                                           any task
                  an adder         Full, [w]          the task that waits, if there is no
                                                      room
                  close            Shut               any task; it then seals
   Full, ws       take           * Moving, ws         any task; it then moves
                  close          * Shut               any task; it resumes all of ws, and
                                                      seals
   Moving, ws     take           * Moving, ws         any task: there is more room to fill
                  move             Moving, (ws - w)   the moving task; it resumes w, and
                                                      then adds the item of w
                  move             Full, ws; or the front
                                                      the moving task, if no room or no
                                                      adder is left
                  close          * Moving, ended      any task; it resumes all of ws
                  move, ended      Shut               the moving task; it then seals
   Shut           take           * Shut               any task

   The front in [first]
   Item (v, r)    take v         * r                  any task
   Bare i         take           * the rest behind the item i + 1
                                                      any task, while the top of the
                                                      stack is above i; it then cuts
                                                      off that top
   Returned (v, r) take v        * r                  any task
   each           put_before     * Returned (v, it)   a task whose item comes back; it
                                                      then renews
   Returned (v, r) take_out        r                  a task that should renew, but finds
                                                      takers; it then takes v back again

   An item comes back if the task that got it was cancelled before it could continue
   ([undo_take]). It took no room any more, because another task had handed it over. So it takes
   none when it is back, and has no number. So a stream holds at most as many items above its
   capacity as have come back. If the task meets no taker, it puts the item in [first], and then
   makes [last] a new block. So when it returns, no task waits beside the item, and none that
   has read [first] before can enlist.

   In addition, waiters enter ws in the states that have it, and withdraw. [Takers] without
   waiters becomes [Node], and [Full] without waiters becomes [Bare] or [Item].

   * linearises the operation. An operation that waited is certain when its resumer answers
   [true]. A take linearises at that moment, and an add when its item is in the stream. A take
   that finds the stream empty or at its end linearises when it reads [last]. [drain] takes
   several items in one change. Items that were added since it read [last] stay. A close of a
   stream that is not full linearises when [last] is sealed, because an add may not read
   [first]. So a task that finds the stream shut seals it before it reports that.

   Room is computed from the number of the last item and the number of items taken. While
   adders wait, there is no room, or their items are being moved ([Moving]), so no task
   overtakes them. An adder that waited may return a moment before its item is in the stream.
   Until then, a task that takes waits for the item, and one that only tries finds nothing.

   A task that turns the stack over may meet a node that another task has cut off. In that case
   the front is no longer the one that the task has read. It never will be again, because each
   [Bare] is a new block. So the compare-and-set of the task fails, whatever it has read from
   the stack.

   The second type parameter of a cell says which constructors may stand in a position. [last]
   and [first] hide it, but without a block of their own, which [@@unboxed] guarantees. So a
   compare-and-set of two of them compares the cells. *)

type ('a, _) added =
  | Node : {
      mutable value : 'a;  (** Erased when the node is cut off. *)
      mutable below : ('a, [ `Node ]) added;
          (** Erased when the node is cut off. *)
      index : int;
    }
      -> ('a, [> `Node ]) added
  | Takers : {
      top : ('a, [ `Node ]) added;
      takers : (unit, 'a) Waiters.t;
    }
      -> ('a, [> `Takers ]) added
  | Renewed : { top : ('a, [ `Node ]) added } -> ('a, [> `Renewed ]) added
  | Sealed : ('a, [ `Node ]) added -> ('a, [> `Sealed ]) added

type ('a, _) cell =
  | Bare : { taken : int } -> ('a, [> `Bare ]) cell
  | Item : {
      index : int;
      value : 'a;
      rest : ('a, [ `Bare | `Item | `Returned ]) cell;
    }
      -> ('a, [> `Item ]) cell
  | Returned : {
      taken : int;  (** As if the item were not there. *)
      returned : int;  (** The number of such items, with this one. *)
      value : 'a;
      rest : ('a, [ `Bare | `Item | `Returned ]) cell;
    }
      -> ('a, [> `Returned ]) cell
  | Full : {
      front : ('a, [ `Bare | `Item | `Returned ]) cell;
      adders : ('a, unit) Waiters.t;
    }
      -> ('a, [> `Full ]) cell
  | Moving : {
      front : ('a, [ `Bare | `Item | `Returned ]) cell;
      adders : ('a, unit) Waiters.t;
      ended : bool;
    }
      -> ('a, [> `Moving ]) cell
  | Shut : ('a, [ `Bare | `Item | `Returned ]) cell -> ('a, [> `Shut ]) cell

type 'a last =
  | Last : ('a, [< `Node | `Takers | `Renewed | `Sealed ]) added -> 'a last
[@@unboxed]

type 'a first =
  | First :
      ('a, [< `Bare | `Item | `Returned | `Full | `Moving | `Shut ]) cell
      -> 'a first
[@@unboxed]

type 'a node = ('a, [ `Node ]) added
type 'a front = ('a, [ `Bare | `Item | `Returned ]) cell

type 'a t = {
  capacity : int;
  first : 'a first Atomic.t;
      (** In a cache line of its own, because takers write it while adders write
          [last]. *)
  last : 'a last Atomic.t;
  seen : int ref;
      (** The number of items that were taken at some moment when no adder
          waited. If it shows that there is room, an add need not read [first],
          which takers on another domain write all the time. A late store does
          no harm, because an older number only shows less room. While adders
          wait, it shows no room, so no add overtakes them. *)
  operations : 'a operations;
}

and 'a operations = {
  taking : ('a t, unit, 'a) Operation.t;
  adding : ('a t, 'a, unit) Operation.t;
}

exception Closed = Errors.Closed

let[@inline never] closed t =
  Errors.raised_by t Closed;
  raise Closed

(* --- Parts of a state ----------------------------------------------------- *)

(* The item that was added last, even if it was taken since. *)
let top (Last added) : _ node =
  match added with
  | Node _ as n -> n
  | Takers { top; _ } -> top
  | Renewed { top } -> top
  | Sealed top -> top

(* The front, in whatever state. *)
let front (First cell) : _ front =
  match cell with
  | Bare _ as front -> front
  | Item _ as front -> front
  | Returned _ as front -> front
  | Full { front; _ } -> front
  | Moving { front; _ } -> front
  | Shut front -> front

(* The number of the item that was taken last. *)
let taken (front : _ front) =
  match front with
  | Bare { taken } -> taken
  | Item { index; _ } -> index - 1
  | Returned { taken; _ } -> taken

(* The number of items that came back. *)
let returned (front : _ front) =
  match front with Returned { returned; _ } -> returned | Bare _ | Item _ -> 0

let index (Node { index; _ } : _ node) = index
let last_index t = index (top (Atomic.get t.last))

let with_takers top takers =
  if Waiters.is_empty takers then Last top else Last (Takers { top; takers })

let with_front (First cell) front =
  match cell with
  | Bare _ | Item _ | Returned _ -> First front
  | Full f -> First (Full { f with front })
  | Moving m -> First (Moving { m with front })
  | Shut _ -> First (Shut front)

let with_adders front adders =
  if Waiters.is_empty adders then First front
  else First (Full { front; adders })

(* --- Turning the stack over ----------------------------------------------- *)

let[@inline] is_cut_off (below : _ node) = Identity.is_immediate below

(* The items on the stack above the number [taken], in the order in which they were added, and
   then [rest]. *)
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

(* The number of the last item that was taken to the front. *)
let rec turned (front : _ front) =
  match front with
  | Item { rest; _ } -> turned rest
  | Returned { rest; _ } -> turned rest
  | Bare { taken } -> taken

let rec values_of (front : _ front) top values =
  match front with
  | Item { value; rest; _ } -> values_of rest top (value :: values)
  | Returned { value; rest; _ } -> values_of rest top (value :: values)
  | Bare { taken } -> List.rev_append values (values_above top taken [])

(* The items of the front, and those behind it up to [top]. *)
let values front top = values_of front top []

(* Erases the item of the node and its link to the nodes below, so that these can be
   collected. *)
let cut_off (Node n : _ node) =
  n.value <- Identity.nothing ();
  n.below <- Identity.nothing ()

(* --- Steps ---------------------------------------------------------------- *)

let finish () = Step.finished
let again () = Step.Again

(* Steps of [last]. *)
let seal_step : _ -> _ Step.t = function
  | Last (Node _ as top) | Last (Renewed { top }) ->
      Return (Last (Sealed top), ())
  | Last (Takers { top; takers }) ->
      let next = Step.resume_all takers Errors.closed Step.finished in
      Become (Last (Sealed top), next)
  | Last (Sealed _) as last -> Return (last, ())

let seal t = Step.perform t.last (fun () last -> seal_step last) ()
let then_seal t = Step.At (t.last, seal_step, finish)

(* A step of [last], by the moving task, after it has found room for the item. *)
let add_moved v : _ -> _ Step.t = function
  | Last (Node { index; _ } as below)
  | Last (Renewed { top = Node { index; _ } as below }) ->
      Return (Last (Node { value = v; below; index = index + 1 }), ())
  | Last (Takers { top; takers }) ->
      Step.to_first takers (Ok v) (with_takers top (Waiters.tail takers)) ()
  | Last (Sealed _) -> assert false (* the moving task seals only at the end *)

(* A step of [first], by the moving task: a task that has taken an item while adders waited,
   and so has made room. It moves their items to the stack, even those for which other tasks
   make room meanwhile. No other task adds until then, so [last_index] is stable during the
   step. *)
let move t : _ -> _ Step.t = function
  | First (Moving { front; adders; ended }) ->
      if Waiters.is_empty adders then
        if ended then Become (First (Shut front), then_seal t)
        else Return (First front, ())
      else if last_index t - taken front = t.capacity then
        Return (with_adders front adders, ())
      else
        let w = Waiters.head adders in
        Hand_over
          {
            state =
              First (Moving { front; adders = Waiters.tail adders; ended });
            waiter = w;
            outcome = Ok ();
            accepted = At (t.last, add_moved w.arg, again);
            refused = Again;
          }
  | First (Bare _ | Item _ | Returned _ | Full _ | Shut _) ->
      assert false (* only the moving task leaves [Moving] *)

(* A step of [first]. In [Moving], the moving task seals [last] when it has finished. *)
let close_step t : _ -> _ Step.t = function
  | First ((Bare _ | Item _ | Returned _) as front) ->
      Become (First (Shut front), then_seal t)
  | First (Full { front; adders }) ->
      let next = Step.resume_all adders Errors.closed (then_seal t) in
      Become (First (Shut front), next)
  | First (Moving { front; adders; ended = false }) ->
      let next = Step.resume_all adders Errors.closed Step.finished in
      Become
        (First (Moving { front; adders = Waiters.empty; ended = true }), next)
  | First (Moving { ended = true; _ }) as first -> Return (first, ())
  | First (Shut _) as first -> Become (first, then_seal t)

let close t = Step.perform t.first close_step t

(* --- Adding and taking, by hand ------------------------------------------- *)

(* These operations are not steps, because each of them reads both words, to see whether there
   is room or what is behind an empty front. Moreover, an add usually reads [seen] instead of
   [first]. A task that has turned the stack over keeps the result for its next attempt, and
   also writes to the stack. Only the part that follows a take from a full stream is a step. *)

(* Returns [true] if there is room behind the item with number [index], and no other adder
   comes first. *)
let[@inline never] look_for_room t index =
  match Atomic.get t.first with
  | First ((Bare _ | Item _ | Returned _) as front) ->
      let taken = taken front in
      t.seen := taken;
      index - taken < t.capacity
  | First (Full _) -> false
  | First (Moving { ended = false; _ }) -> false
  | First (Moving { ended = true; _ }) -> closed t
  | First (Shut _) ->
      seal t;
      closed t

let[@inline] has_room t index =
  index - !(t.seen) < t.capacity || look_for_room t index

(* While [last] stays the same, no item is added. So room that was found is still there when
   the compare-and-set succeeds. *)
let rec add_above before (Node { index; _ } as below : _ node) t v =
  has_room t index
  &&
  let n = Node { value = v; below; index = index + 1 } in
  Atomic.compare_and_set t.last before (Last n)
  ||
  (* another add, a taker, an item that came back, or the end *)
  try_add t v

and try_add t v =
  match Atomic.get t.last with
  | Last (Node _ as below) as before -> add_above before below t v
  | Last (Renewed { top = below }) as before -> add_above before below t v
  | Last (Takers { top; takers }) as before ->
      has_room t (index top)
      &&
      let w = Waiters.head takers in
      let after = with_takers top (Waiters.tail takers) and outcome = Ok v in
      (Atomic.compare_and_set t.last before after && Waiter.resume w outcome)
      ||
      (* another taker, a withdrawal, or another add; or [w] refused *)
      try_add t v
  | Last (Sealed _) -> closed t

(* [first] after a take that has left [rest] as its front. *)
let after_take (First cell) rest =
  match cell with
  | Bare _ | Item _ | Returned _ -> First rest
  | Shut _ -> First (Shut rest)
  | Moving m -> First (Moving { m with front = rest })
  | Full { adders; _ } -> First (Moving { front = rest; adders; ended = false })

(* The chain of steps that must follow the take, or [None]. Unbroken after the take, so this
   is made before, like the result. *)
let[@inline] owing t (First cell) =
  match cell with
  | Full _ -> Some (Step.owing t.first (Then (move t)))
  | Bare _ | Item _ | Returned _ | Moving _ | Shut _ -> None

let[@inline never] pay owed result =
  Step.pay owed;
  result

let[@inline] paid owed result =
  match owed with None -> result | Some owed -> pay owed result

(* Takes the items that were turned over, the last of which is [top], and leaves [rest] as the
   front. If the number of [top] is [turned], nothing was turned over, and another task cuts
   [top] off. As long as the front stays the same, the items that were turned over stay valid.
   So adders that come and leave don't make this task turn them over again. *)
let rec take_turned t before ~turned top ~rest ~result ~otherwise =
  let after = after_take before rest and owed = owing t before in
  if Atomic.compare_and_set t.first before after then begin
    if index top > turned then cut_off top;
    paid owed result
  end
  else
    let now = Atomic.get t.first in
    if front now == front before then
      (* an adder came or withdrew, or items were moved, or the stream closed *)
      take_turned t now ~turned top ~rest ~result ~otherwise
    else (* another take *) otherwise t

let rec try_take t =
  let before = Atomic.get t.first in
  match front before with
  | Item { value; rest; _ } ->
      let result = Some value
      and after = after_take before rest
      and owed = owing t before in
      if Atomic.compare_and_set t.first before after then paid owed result
      else
        (* another take, or an adder came or withdrew, or items were moved, or the stream
              closed *)
        try_take t
  | Returned { value; rest; _ } ->
      let result = Some value in
      if Atomic.compare_and_set t.first before (with_front before rest) then
        result
      else (* the same *) try_take t
  | Bare { taken } -> (
      let last = Atomic.get t.last in
      let top = top last in
      match added top taken with
      | Item { value; rest; _ } ->
          let result = Some value in
          take_turned t before ~turned:taken top ~rest ~result
            ~otherwise:try_take
      | Bare _ | Returned _ -> (
          match last with
          | Last (Sealed _) ->
              (* An item may have come back since, before the close. *)
              if front (Atomic.get t.first) == front before then closed t
              else try_take t
          | Last (Node _ | Takers _ | Renewed _) -> None))

(* --- Taking back ---------------------------------------------------------- *)

(* A step of [first]. The item comes back before all others. *)
let put_before v first : _ Step.t =
  let rest = front first in
  let taken = taken rest and returned = returned rest + 1 in
  Return (with_front first (Returned { taken; returned; value = v; rest }), ())

(* A step of [first]. *)
let take_out first : _ Step.t =
  match front first with
  | Returned { value; rest; _ } -> Return (with_front first rest, Some value)
  | Bare _ | Item _ -> Return (first, None)

(* A step of [last]. The first taker gets the item, or it comes to [first]. *)
let rec take_back t v : _ -> _ Step.t = function
  | Last (Takers { top; takers }) ->
      Step.to_first takers (Ok v) (with_takers top (Waiters.tail takers)) ()
  | Last (Node _ | Renewed _ | Sealed _) as last ->
      let came () = Step.Then (fun last -> renew t last) in
      Become (last, At (t.first, put_before v, came))

(* A step of [last], when the item is in [first]. A task that found no item there before has
   also read [last] before. Either it is among the takers by now, or it can't enlist itself any
   more, because [last] is a new block. *)
and renew t : _ -> _ Step.t = function
  | Last (Node _ as top) | Last (Renewed { top }) ->
      Return (Last (Renewed { top }), ())
  | Last (Sealed _) as last -> Return (last, ())
  | Last (Takers _) as last ->
      let then_take_back = function
        | Some v -> Step.Then (fun last -> take_back t v last)
        | None -> (* another task has taken it *) Step.finished
      in
      Become (last, At (t.first, take_out, then_take_back))

let undo_take t () v =
  Step.surely t.last (take_back t) v;
  true

let rec drain t =
  let before = Atomic.get t.first in
  let front = front before and top = top (Atomic.get t.last) in
  match values front top with
  | [] -> []
  | values ->
      let turned = turned front and rest = Bare { taken = index top } in
      take_turned t before ~turned top ~rest ~result:values ~otherwise:drain

(* --- The waiters ---------------------------------------------------------- *)

(* A task that waits to take waits in [last], where items are added. A task that waits to add
   waits in [first], where room is made. Each of these steps belongs to the word in which the
   task waits, and only finds out whether it has to wait. It also reads the other word. That is
   safe because while [last] stays the same, an empty stream stays empty, and while [first]
   stays the same, a full one stays full. *)

let look_for_item t () last : _ Step.t =
  match (front (Atomic.get t.first), last) with
  | (Item _ | Returned _), _ | Bare _, Last (Sealed _) -> Return (last, ())
  | Bare { taken }, Last (Node _ | Renewed _) when index (top last) > taken ->
      Return (last, ())
  | Bare _, Last (Node _ | Takers _ | Renewed _) -> Wait

let look_for_end_or_room t _ first : _ Step.t =
  match first with
  | First ((Bare _ | Item _ | Returned _) as front) ->
      if last_index t - taken front = t.capacity then Wait
      else Return (first, ())
  | First (Full _) | First (Moving { ended = false; _ }) -> Wait
  | First (Moving { ended = true; _ }) | First (Shut _) -> Return (first, ())

let takers change w = function
  | Last (Node _ as top) -> with_takers top (change Waiters.empty w)
  | Last (Takers { top; takers }) -> with_takers top (change takers w)
  | Last (Renewed { top }) as last ->
      let takers = change Waiters.empty w in
      if Waiters.is_empty takers then last else with_takers top takers
  | Last (Sealed _) as last -> last

let adders change w = function
  | First ((Bare _ | Item _ | Returned _) as front) ->
      with_adders front (change Waiters.empty w)
  | First (Full { front; adders }) -> with_adders front (change adders w)
  | First (Moving ({ ended = false; _ } as m)) ->
      First (Moving { m with adders = change m.adders w })
  | (First (Moving { ended = true; _ }) | First (Shut _)) as first -> first

(* The number of items at some moment of the call. *)
let rec length t =
  let before = Atomic.get t.first in
  let front = front before in
  let n = last_index t - taken front + returned front in
  if Atomic.get t.first == before then n else (* an item was taken *) length t

let items t =
  if t.capacity = max_int then ""
  else Printf.sprintf "%d of %d items" (length t) t.capacity

let taking =
  {
    Operation.default with
    name = "Stream.take";
    undo = undo_take;
    state = items;
    spin = Before;
    how =
      By_hand
        {
          attempt = (fun t () -> try_take t);
          enlist = (fun t w -> Step.enlist t.last (look_for_item t) takers w);
          withdraw = (fun t w -> Step.withdraw t.last takers Step.finished w);
        };
  }

let add_now t v = if try_add t v then Some () else None

let adding =
  {
    Operation.default with
    name = "Stream.add";
    undo = Operation.undo_nothing;
    state = items;
    spin = Before;
    how =
      By_hand
        {
          attempt = add_now;
          enlist =
            (fun t w -> Step.enlist t.first (look_for_end_or_room t) adders w);
          withdraw = (fun t w -> Step.withdraw t.first adders Step.finished w);
        };
  }

let short = { taking; adding }

(* In a long stream, many items gather while a task falls asleep, and are then taken at once. So
   a task backs off once, and only if the last tasks that did found enough items, or as much
   room, afterwards. *)
let long =
  let pace = Spin.bulk and prepare = Fun.id and in_choice = false in
  let take t () () = if length t >= Spin.enough then try_take t else None
  and add t v () =
    if t.capacity - length t >= Spin.enough then add_now t v else None
  in
  let to_take = Operation.Own { pace; prepare; attempt = take; in_choice }
  and to_add = Operation.Own { pace; prepare; attempt = add; in_choice } in
  {
    taking = { taking with spin = In_its_own_way to_take };
    adding = { adding with spin = In_its_own_way to_add };
  }

let mailbox = { long with taking = { long.taking with name = "Mailbox.take" } }
let is_short capacity = capacity <= Spin.short

(* --- Creating ------------------------------------------------------------- *)

let figures t =
  if t.capacity = max_int then [ Observer.Length (length t) ]
  else [ Length (length t); Capacity t.capacity ]

let make kind ?name capacity operations =
  let nothing = Identity.nothing in
  let bottom = Node { value = nothing (); below = nothing (); index = 0 } in
  Observer.made ~kind ?name ~figures
    {
      capacity;
      first = Atomic.make_contended (First (Bare { taken = 0 }));
      last = Atomic.make (Last bottom);
      seen = ref 0;
      operations;
    }

let create capacity =
  if capacity < 1 then
    invalid_arg
      (Printf.sprintf
         "Stream.create: the capacity is %d, but must be at least 1 (Channel \
          passes items on without a buffer)"
         capacity);
  make "stream" capacity (if is_short capacity then short else long)

let create_mailbox ?name () = make "mailbox" ?name max_int mailbox

(* --- Taking and adding ---------------------------------------------------- *)

let take t =
  match try_take t with
  | Some v -> v
  | None -> Operation.wait t.operations.taking t ()

let take_nonblocking t =
  match try_take t with v -> v | exception Closed -> None

let take_evt t = Event.make t.operations.taking t ()
let add t v = if not (try_add t v) then Operation.wait t.operations.adding t v
let add_evt t v = Event.make t.operations.adding t v
let add_seq t seq = Seq.iter (add t) seq

(* --- Reading to the end --------------------------------------------------- *)

include Reader.Make (struct
  type nonrec 'a t = 'a t

  let take = take
  let take_evt = take_evt
end)

(* --- Inspecting the stream ------------------------------------------------ *)

let is_closed t =
  match Atomic.get t.first with
  | First (Moving { ended = true; _ }) -> true
  | First (Shut _) ->
      seal t;
      true
  | First (Moving { ended = false; _ })
  | First (Bare _ | Item _ | Returned _ | Full _) ->
      false

let capacity t = t.capacity
let is_empty t = length t = 0

let adders_waiting (First cell) =
  match cell with
  | Full { adders; _ } -> Waiters.length adders
  | Moving { adders; _ } -> Waiters.length adders
  | Bare _ | Item _ | Returned _ | Shut _ -> 0

let takers_waiting (Last added) =
  match added with
  | Takers { takers; _ } -> Waiters.length takers
  | Node _ | Renewed _ | Sealed _ -> 0

let waiters t =
  adders_waiting (Atomic.get t.first) + takers_waiting (Atomic.get t.last)
