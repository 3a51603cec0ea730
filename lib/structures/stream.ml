open Stream_nodes
open Stream_move

exception Closed = Closed.Closed

(* A task that must wait does so at the end of the queue where it is stuck: a taker in the
   last node (see [Stream_nodes]), an adder at the front.

   [first]
   State        Left by          To                By whom
   Node n       take           * Node n'           any task
                an adder         Full              the task that waits: there is no room
                close            Shut n            the closing task; then it seals
   Full         take           * Moving            any task; then it moves
                an adder         Full              the task that waits
                cancelled adder  Full, or Node     the task that enlisted it
                close          * Shut n            the closing task; it calls the
                                                   adders, and seals
   Moving       take           * Moving            any task: more room to fill
                an adder         Moving            the task that waits
                cancelled adder  Moving            the task that enlisted it
                move             Moving            the moving task; it calls an adder,
                                                   and then adds its item
                move             Full, Node        the moving task: no room, or no
                                                   adder, is left
                close          * Moving, ended     the closing task; it calls the
                                                   adders
                move, ended      Shut n            the moving task; then it seals
   Shut n       take           * Shut n'           any task

   * linearises the operation. One that waited is certain when its resumer answers
   [true]: a take linearises then, an add when its item is in. [take] finds the stream
   at its end when it reads [Sealed]. [take_all] takes several items in one step, but
   what was added since it looked stays.

   To close a stream that is not full linearises when it is sealed, since an add need
   not read [first]: a task that finds it shut seals the stream before it says so.

   That there is no room is known from the indices of the last and the first node.
   While adders wait, there is none, or their items are being moved ([Moving]): so
   no task overtakes them. An adder that waited may return a moment before its item is
   in: until then a task that takes waits for the item, and one that only tries finds
   nothing. *)
type 'a t = 'a Stream_nodes.t

let create capacity = Stream_nodes.create capacity
let create_as ~kind ?name capacity = Stream_nodes.create ~kind ?name capacity

(* --- Adding --------------------------------------------------------------- *)

let[@inline never] closed t =
  Closed.by t;
  raise Closed

(* Whether a node after the one of this index has room, unless others come first. *)
let[@inline never] look_for_room t index =
  match Atomic.get t.first with
  | First (Node { index = first; _ }) ->
      t.seen := first;
      index - first < t.capacity
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

let rec try_take t =
  let (First cell as before) = Atomic.get t.first in
  let (Node { next; _ } as n : _ node) = front before in
  match Atomic.get next with
  | Next (Node _ as n') -> (
      match cell with
      | Node _ ->
          if Atomic.compare_and_set t.first before (First n') then
            Some (take_out t n n')
          else try_take t
      | Shut _ ->
          if Atomic.compare_and_set t.first before (First (Shut n')) then
            Some (take_out t n n')
          else try_take t
      | Moving m ->
          let after = Moving { m with first = n' } in
          if Atomic.compare_and_set t.first before (First after) then
            Some (take_out t n n')
          else try_take t
      | Full { adders; _ } ->
          let after = Moving { first = n'; adders; ended = false }
          and debt = Debt.owing Move in
          if Atomic.compare_and_set t.first before (First after) then begin
            let v = take_out t n n' in
            Debt.pay move t debt;
            Some v
          end
          else try_take t)
  | Next End | Next (Takers _) -> None
  | Next Severed -> (* [first] is another one by now *) try_take t
  | Next Sealed -> closed t

let taking =
  {
    Operation.attempt = (fun t () -> try_take t);
    enlist = enlist_taker;
    withdraw = withdraw_taker;
  }

let take t =
  match try_take t with Some v -> v | None -> Operation.wait taking t ()

let take_nonblocking t =
  match try_take t with v -> v | exception Closed -> None

let take_evt t = Event.make taking t ()

(* --- Waiting to add ------------------------------------------------------- *)

let rec enlist_adder t w =
  match Atomic.get t.first with
  | First (Node { index; _ } as first) as before ->
      (* While [first] stays, what is full stays full. *)
      last_index t - index = t.capacity
      &&
      let adders = Waiters.push Waiters.empty w in
      Atomic.compare_and_set t.first before (First (Full { first; adders }))
      ||
      (* a take, another adder, or closed *)
      enlist_adder t w
  | First (Full { first; adders }) as before ->
      let adders = Waiters.push adders w in
      Atomic.compare_and_set t.first before (First (Full { first; adders }))
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

let withdraw_adder t _ =
  Atomically.update t.first @@ function
  | First (Full { first; adders }) -> full first (Waiters.count_gone adders)
  | First (Moving m) ->
      First (Moving { m with adders = Waiters.count_gone m.adders })
  | First (Node _ | Shut _) as first -> first

let adding =
  {
    Operation.attempt = (fun t v -> if try_add t v then Some () else None);
    enlist = enlist_adder;
    withdraw = withdraw_adder;
  }

let add t v = if not (try_add t v) then Operation.wait adding t v
let add_evt t v = Event.make adding t v

(* --- Ending --------------------------------------------------------------- *)

let rec close t =
  match Atomic.get t.first with
  | First (Node _ as first) as before ->
      if Atomic.compare_and_set t.first before (First (Shut first)) then
        seal_shut t
      else close t
  | First (Full { first; adders }) as before ->
      let round = Waiters.round adders Closed.outcome in
      if Atomic.compare_and_set t.first before (First (Shut first)) then
        begin try
          Waiters.resume_all round;
          seal_shut t
        with e ->
          seal_shut t;
          raise e
        end
      else close t
  | First (Moving { first; adders; ended = false }) as before ->
      let after = Moving { first; adders = Waiters.empty; ended = true } in
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
  | First (Moving { ended = false; _ }) | First (Node _ | Full _) -> false

(* --- Taking all ----------------------------------------------------------- *)

let rec take_all t =
  let (First cell as before) = Atomic.get t.first in
  let first = front before in
  let (Node taken as last : _ node), items = collect first [] in
  if last == first then
    if Atomic.get t.first == before then [] else (* severed *) take_all t
  else begin
    let after : _ first =
      match cell with
      | Node _ -> First last
      | Shut _ -> First (Shut last)
      | Moving m -> First (Moving { m with first = last })
      | Full { adders; _ } ->
          First (Moving { first = last; adders; ended = false })
    in
    let debt = Debt.owing Move in
    if Atomic.compare_and_set t.first before after then begin
      taken.value <- Identity.nothing ();
      sever_next t first;
      (match cell with
      | Full _ -> Debt.pay move t debt
      | Node _ | Shut _ | Moving _ -> ());
      List.rev items
    end
    else (* another take, an adder came or withdrew, moved, or closed *)
      take_all t
  end

(* --- Looking -------------------------------------------------------------- *)

let capacity t = t.capacity

let rec length t =
  let before = Atomic.get t.first in
  let n = last_index t - index (front before) in
  if Atomic.get t.first == before then n else (* taken from *) length t

let is_empty t = length t = 0

let adders (First cell) =
  match cell with
  | Full { adders; _ } -> Waiters.length adders
  | Moving { adders; _ } -> Waiters.length adders
  | Node _ | Shut _ -> 0

let waiters t =
  let first = Atomic.get t.first in
  let (Node { next; _ } : _ node) = front first in
  match Atomic.get next with
  | Next (Takers waiters) -> adders first + Waiters.length waiters
  | Next (End | Node _ | Sealed | Severed) -> adders first

(* --- To the end ------------------------------------------------------------ *)

include Reader.Make (struct
  type nonrec 'a t = 'a t

  let take = take
  let take_evt = take_evt
end)

let drain = take_all
let add_seq t seq = Seq.iter (add t) seq
