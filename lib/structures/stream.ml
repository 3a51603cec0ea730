open Stream_nodes
open Stream_move

exception Closed = Closed.Closed

(* The items, and the tasks that wait to take one: see [Stream_nodes]. Tasks that wait to
   add do so at the front, where room is made for them.

   [first], in each of whose states there is a front
   State        Left by          To                By whom
   Bare, Item   take           * Bare, Item        any task
                an adder         Full              the task that waits: there is no room
                close            Shut              the closing task; then it seals
   Full         take           * Moving            any task; then it moves
                an adder         Full              the task that waits
                cancelled adder  Full; Bare, Item  the task that enlisted it
                close          * Shut              the closing task; it calls the
                                                   adders, and seals
   Moving       take           * Moving            any task: more room to fill
                an adder         Moving            the task that waits
                cancelled adder  Moving            the task that enlisted it
                move             Moving            the moving task; it calls an adder,
                                                   and then adds its item
                move             Full; Bare, Item  the moving task: no room, or no
                                                   adder, is left
                close          * Moving, ended     the closing task; it calls the
                                                   adders
                move, ended      Shut              the moving task; then it seals
   Shut         take           * Shut              any task

   * linearises the operation. One that waited is certain when its resumer answers
   [true]: a take linearises then, an add when its item is in. A take that finds the
   stream at its end, or empty, linearises when it reads [last]. [take_all] takes
   several items in one step, but what was added since it looked stays.

   To close a stream that is not full linearises when it is sealed, since an add need
   not read [first]: a task that finds it shut seals the stream before it says so.

   That there is no room is known from the number of the last item and of those that
   were taken. While adders wait, there is none, or their items are being moved
   ([Moving]): so no task overtakes them. An adder that waited may return a moment
   before its item is in: until then a task that takes waits for the item, and one that
   only tries finds nothing. *)
type 'a t = 'a Stream_nodes.t

let create capacity = Stream_nodes.create capacity
let create_as ~kind ?name capacity = Stream_nodes.create ~kind ?name capacity

(* --- Adding --------------------------------------------------------------- *)

let[@inline never] closed t =
  Closed.by t;
  raise Closed

(* Whether there is room behind the item of this number, unless others come first. *)
let[@inline never] look_for_room t index =
  match Atomic.get t.first with
  | First ((Bare _ | Item _) as front) ->
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

let try_add t v = add_if has_room Waiter.resume t v

(* --- Taking --------------------------------------------------------------- *)

(* [first], when what is there at the front has become [rest]. *)
let after_take (First cell) rest =
  match cell with
  | Bare _ | Item _ -> First rest
  | Shut _ -> First (Shut rest)
  | Moving m -> First (Moving { m with front = rest })
  | Full { adders; _ } -> First (Moving { front = rest; adders; ended = false })

(* A take from a full stream owes this. *)
let debt (First cell) =
  match cell with
  | Full _ -> Some (Debt.owing Move)
  | Bare _ | Item _ | Moving _ | Shut _ -> None

let[@inline] pay t = function None -> () | Some debt -> Debt.pay move t debt

(* Takes what was turned over, which ends at [top]; [rest] is left. While the front is
   what it was, so is what was turned over: tasks that come to add, and leave, do not make
   this one turn it over again. *)
let rec take_turned t before top ~rest ~result ~otherwise =
  let after = after_take before rest and debt = debt before in
  if Atomic.compare_and_set t.first before after then begin
    cut_off top;
    pay t debt;
    result
  end
  else
    let now = Atomic.get t.first in
    if front now == front before then
      (* an adder came or withdrew, moved, or closed *)
      take_turned t now top ~rest ~result ~otherwise
    else (* another take *) otherwise t

(* The result is made before the step, as a signal handler may raise where something is
   allocated. *)
let rec try_take t =
  let before = Atomic.get t.first in
  match front before with
  | Item { value; rest; _ } ->
      let result = Some value
      and after = after_take before rest
      and debt = debt before in
      if Atomic.compare_and_set t.first before after then begin
        pay t debt;
        result
      end
      else (* another take, an adder came or withdrew, moved, or closed *)
        try_take t
  | Bare { taken } -> (
      let last = Atomic.get t.last in
      let top = top last in
      match added top taken with
      | Item { value; rest; _ } ->
          let result = Some value in
          take_turned t before top ~rest ~result ~otherwise:try_take
      | Bare _ -> (
          match last with
          | Last (Sealed _) -> closed t
          | Last (Node _ | Takers _) -> None))

let taking =
  {
    Operation.name = "Stream.take";
    spin = Before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t () -> try_take t);
          enlist = enlist_taker;
          withdraw = withdraw_taker;
        };
  }

(* In a larger one items gather while a task falls asleep, or while it keeps off, and are
   taken at once. *)
let is_short t = t.capacity <= 8

let[@inline never] gather_then_take t =
  Stream_gather.items t;
  match try_take t with Some v -> v | None -> Operation.suspend taking t ()

let[@inline never] wait_to_take t =
  if is_short t then Operation.wait taking t ()
  else if Domains.were_spawned () then gather_then_take t
  else Operation.suspend taking t ()

let take t = match try_take t with Some v -> v | None -> wait_to_take t

let take_nonblocking t =
  match try_take t with v -> v | exception Closed -> None

let taking_from_long = { taking with spin = Never }

let take_evt t =
  Event.make (if is_short t then taking else taking_from_long) t ()

(* --- Waiting to add ------------------------------------------------------- *)

let rec enlist_adder t w =
  match Atomic.get t.first with
  | First ((Bare _ | Item _) as front) as before ->
      (* While [first] stays, what is full stays full. *)
      last_index t - taken front = t.capacity
      &&
      let adders = Waiters.push Waiters.empty w in
      Atomic.compare_and_set t.first before (First (Full { front; adders }))
      ||
      (* a take, another adder, or closed *)
      enlist_adder t w
  | First (Full { front; adders }) as before ->
      let adders = Waiters.push adders w in
      Atomic.compare_and_set t.first before (First (Full { front; adders }))
      ||
      (* a take, an adder came or withdrew, or closed *)
      enlist_adder t w
  | First (Moving ({ ended = false; _ } as m)) as before ->
      let adders = Waiters.push m.adders w in
      Atomic.compare_and_set t.first before (First (Moving { m with adders }))
      ||
      (* as above, or moved *)
      enlist_adder t w
  | First (Moving { ended = true; _ }) | First (Shut _) -> false

let withdraw_adder t w =
  Operation.leave t.first w @@ function
  | First (Full { front; adders }) -> full front (Waiters.count_gone adders)
  | First (Moving m) ->
      First (Moving { m with adders = Waiters.count_gone m.adders })
  | First (Bare _ | Item _ | Shut _) as first -> first

let adding =
  {
    Operation.name = "Stream.add";
    spin = Before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t v -> if try_add t v then Some () else None);
          enlist = enlist_adder;
          withdraw = withdraw_adder;
        };
  }

let[@inline never] gather_then_add t v =
  Stream_gather.room t;
  if not (try_add t v) then Operation.suspend adding t v

let[@inline never] wait_to_add t v =
  if is_short t then Operation.wait adding t v
  else if Domains.were_spawned () then gather_then_add t v
  else Operation.suspend adding t v

let add t v = if not (try_add t v) then wait_to_add t v
let adding_to_long = { adding with spin = Never }
let add_evt t v = Event.make (if is_short t then adding else adding_to_long) t v

(* --- Ending --------------------------------------------------------------- *)

let rec close t =
  match Atomic.get t.first with
  | First ((Bare _ | Item _) as front) as before ->
      if Atomic.compare_and_set t.first before (First (Shut front)) then
        seal_shut t
      else close t
  | First (Full { front; adders }) as before ->
      let round = Waiters.round adders Closed.outcome in
      if Atomic.compare_and_set t.first before (First (Shut front)) then
        begin try
          Waiters.resume_all round;
          seal_shut t
        with e ->
          seal_shut t;
          raise e
        end
      else close t
  | First (Moving { front; adders; ended = false }) as before ->
      let after = Moving { front; adders = Waiters.empty; ended = true } in
      let round = Waiters.round adders Closed.outcome in
      if Atomic.compare_and_set t.first before (First after) then
        (* the moving task will seal *)
        Waiters.resume_all round
      else close t
  | First (Moving { ended = true; _ }) -> ()
  | First (Shut _) -> seal t

let is_closed t =
  match Atomic.get t.first with
  | First (Moving { ended = true; _ }) -> true
  | First (Shut _) ->
      seal t;
      true
  | First (Moving { ended = false; _ }) | First (Bare _ | Item _ | Full _) ->
      false

(* --- Taking all ----------------------------------------------------------- *)

let rec take_all t =
  let before = Atomic.get t.first in
  let top = top (Atomic.get t.last) in
  match values (front before) top with
  | [] -> []
  | values ->
      let rest = Bare { taken = index top } in
      take_turned t before top ~rest ~result:values ~otherwise:take_all

(* --- Looking -------------------------------------------------------------- *)

let capacity t = t.capacity
let length = Stream_gather.length
let is_empty t = length t = 0

let adders (First cell) =
  match cell with
  | Full { adders; _ } -> Waiters.length adders
  | Moving { adders; _ } -> Waiters.length adders
  | Bare _ | Item _ | Shut _ -> 0

let takers (Last added) =
  match added with
  | Takers { takers; _ } -> Waiters.length takers
  | Node _ | Sealed _ -> 0

let waiters t = adders (Atomic.get t.first) + takers (Atomic.get t.last)

(* --- To the end ------------------------------------------------------------ *)

include Reader.Make (struct
  type nonrec 'a t = 'a t

  let take = take
  let take_evt = take_evt
end)

let drain = take_all
let add_seq t seq = Seq.iter (add t) seq
