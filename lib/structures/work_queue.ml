exception Closed = Errors.Closed

module Items = Map.Make (Int)

(* A bounded queue from which an item can be withdrawn. Items are numbered in the order in
   which they come in, and a ticket is such a number. Withdrawing an item removes it from
   [items], so a withdrawn item takes no room.

   An adder that waits gets its number when it is resumed. Then the same task that resumed it
   puts its item in. Meanwhile the item is in [transit], and it takes room as well.

   [t], the only Atomic here. [length] counts the items, without one in transit.

   State        Left by        To                               By whom
   Nothing      add          * one item more                    any task, if there is room; it is open
   in transit                * the first taker leaves its queue the same, if tasks wait to take
                take, drain,
                withdraw     * items out                        any task; it then serves
                close        * closed                           any task; it resumes all adders, and
                                                                serves
                serve          the first adder leaves its queue, Coming
                                                                any task, if there is room; it
                                                                resumes the adder with the number
                               all takers leave their queue     any task, if it is closed and empty;
                                                                it resumes them
   Coming n     arrive       * the item n in, Nothing           the task that resumed the adder, which
                                                                accepted
                               the first taker leaves its queue, Passing
                                                                the same, if tasks wait to take
                refused        Nothing                          the same, if the adder refused
                withdraw     * Nothing                          the adder, or a task with its ticket
   Passing      passed       * Nothing                          the same; the taker accepted
                refused        the next taker; or the item in, Nothing
                                                                the same
   Coming,      take, drain, withdraw, close: as above, but a task that serves finds that it can't
   Passing

   When a transit ends, the task that resumed the adder serves. Adders enter their queue while
   there is no room or an item is in transit. Takers enter theirs while there is no item, and
   one may still come. Both withdraw.

   * linearises the operation. Adders wait only while there is no room, or while the task that
   has an item in transit has yet to serve. So no task overtakes them, and items are taken in
   the order of their numbers. An adder that waited may return before its item has arrived. The
   item can be withdrawn even then, unless it is Passing. *)
type transit = Nothing | Coming of int | Passing

type 'a state = {
  capacity : int;
  items : 'a Items.t;
  length : int;
  next : int;  (** The number of the next item, from 1 on. *)
  transit : transit;
  closed : bool;
  adders : ('a, int) Waiters.t;
  takers : (unit, 'a) Waiters.t;
}

type 'a t = 'a state Atomic.t
type 'a ticket = { queue : 'a t; number : int }

let figures t =
  let { length; capacity; _ } = Atomic.get t in
  [ Observer.Length length; Capacity capacity ]

let create ?name capacity =
  if capacity < 1 then
    invalid_arg
      (Printf.sprintf
         "Work_queue.create: the capacity is %d, but must be at least 1"
         capacity);
  Observer.made ~kind:"work queue" ?name ~figures
    (Atomic.make
       {
         capacity;
         items = Items.empty;
         length = 0;
         next = 1;
         transit = Nothing;
         closed = false;
         adders = Waiters.empty;
         takers = Waiters.empty;
       })

(* --- Steps ---------------------------------------------------------------- *)

let has_room s = s.transit == Nothing && s.length < s.capacity
let is_over s = s.closed && s.length = 0 && s.transit == Nothing

(* The number of an item that went to a taker at once. *)
let taken = 0

let put number v s =
  { s with items = Items.add number v s.items; length = s.length + 1 }

let without number s =
  { s with items = Items.remove number s.items; length = s.length - 1 }

(* Each change ends with this. [result] is the result of the whole operation. *)
let rec serve : 'r 'a. 'r -> 'a state -> ('a state, 'r) Step.t =
 fun result s ->
  if is_over s && not (Waiters.is_empty s.takers) then
    Become
      ( { s with takers = Waiters.empty },
        Step.resume_all s.takers Errors.closed (Done result) )
  else if has_room s && not (Waiters.is_empty s.adders) then
    let w = Waiters.head s.adders and number = s.next in
    let transit = Coming number and adders = Waiters.tail s.adders in
    Hand_over
      {
        state = { s with adders; transit; next = number + 1 };
        waiter = w;
        outcome = Ok number;
        accepted = Then (arrive result number w.arg);
        refused = Then (depart result number);
      }
  else Return (s, result)

and arrive : 'r 'a. 'r -> int -> 'a -> 'a state -> ('a state, 'r) Step.t =
 fun result number v s ->
  if s.transit = Coming number then pass result number v s
  else (* the item was withdrawn *) serve result s

and depart : 'r 'a. 'r -> int -> 'a state -> ('a state, 'r) Step.t =
 fun result number s ->
  if s.transit = Coming number then serve result { s with transit = Nothing }
  else serve result s

and pass : 'r 'a. 'r -> int -> 'a -> 'a state -> ('a state, 'r) Step.t =
 fun result number v s ->
  if Waiters.is_empty s.takers then
    serve result (put number v { s with transit = Nothing })
  else
    let passed s = serve result { s with transit = Nothing } in
    Hand_over
      {
        state = { s with takers = Waiters.tail s.takers; transit = Passing };
        waiter = Waiters.head s.takers;
        outcome = Ok v;
        accepted = Then passed;
        refused = Then (pass result number v);
      }

let add_step v s : _ Step.t =
  if s.closed then Raise Closed
  else if not (has_room s) then Wait
  else if Waiters.is_empty s.takers then
    Return (put s.next v { s with next = s.next + 1 }, s.next)
  else
    Step.to_first s.takers (Ok v)
      { s with takers = Waiters.tail s.takers }
      taken

let take_step () s : _ Step.t =
  match Items.min_binding_opt s.items with
  | Some (number, v) -> serve v (without number s)
  | None -> if is_over s then Raise Closed else Wait

(* Numbers of tickets are not negative. *)
let number_before s =
  match Items.min_binding_opt s.items with
  | Some (number, _) when number < 0 -> number - 1
  | Some _ | None -> -1

let take_back_step v s : _ Step.t =
  if Waiters.is_empty s.takers then Return (put (number_before s) v s, ())
  else
    Step.to_first s.takers (Ok v) { s with takers = Waiters.tail s.takers } ()

let undo_take t () v =
  Step.surely t take_back_step v;
  true

let withdraw_step number s : _ Step.t =
  if Items.mem number s.items then serve true (without number s)
  else if s.transit = Coming number then serve true { s with transit = Nothing }
  else Return (s, false)

let drain_step () s : _ Step.t =
  let all = List.map snd (Items.bindings s.items) in
  serve all { s with items = Items.empty; length = 0 }

let close_step () s : _ Step.t =
  if s.closed then Return (s, ())
  else
    Become
      ( { s with closed = true; adders = Waiters.empty },
        Step.resume_all s.adders Errors.closed (Then (serve ())) )

(* --- The waiters ---------------------------------------------------------- *)

let adders change w s = { s with adders = change s.adders w }
let takers change w s = { s with takers = change s.takers w }
let length t = (Atomic.get t).length
let capacity t = (Atomic.get t).capacity
let shown t = Printf.sprintf "%d of %d items" (length t) (capacity t)
let operation = { Operation.default with state = shown; spin = Before }

let adding =
  {
    operation with
    name = "Work_queue.add";
    undo = Operation.undo_nothing;
    how =
      By_steps
        { word = Fun.id; step = add_step; queue = adders; left = Step.finished };
  }

let taking =
  {
    operation with
    name = "Work_queue.take";
    undo = undo_take;
    how =
      By_steps
        {
          word = Fun.id;
          step = take_step;
          queue = takers;
          left = Step.finished;
        };
  }

(* --- Adding and withdrawing ----------------------------------------------- *)

let add t v =
  match Step.attempt t add_step v with
  | Some number -> { queue = t; number }
  | None ->
      let number = Operation.wait adding t v in
      { queue = t; number }

let try_add t v =
  match Step.attempt t add_step v with
  | Some number -> Some { queue = t; number }
  | None -> None

let add_evt t v =
  Event.wrap (Event.make adding t v) (fun number -> { queue = t; number })

let add_seq t seq = Seq.iter (fun v -> ignore (add t v : _ ticket)) seq
let withdraw { queue; number } = Step.perform queue withdraw_step number

(* --- Taking --------------------------------------------------------------- *)

let try_take t = Step.attempt t take_step ()

let take t =
  match try_take t with Some v -> v | None -> Operation.wait taking t ()

let take_evt t = Event.make taking t ()
let drain t = Step.perform t drain_step ()

include Reader.Make (struct
  type nonrec 'a t = 'a t

  let take = take
  let take_evt = take_evt
end)

(* --- Closing and inspecting ----------------------------------------------- *)

let close t = Step.perform t close_step ()
let is_closed t = (Atomic.get t).closed
let is_empty t = length t = 0

let waiters t =
  let s = Atomic.get t in
  Waiters.length s.adders + Waiters.length s.takers
