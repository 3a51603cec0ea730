exception Closed = Closed.Closed

(* A queue of nodes, as Michael and Scott's (PODC 1996), in which whoever must wait
   waits at the end where it is stuck: who takes, in the last node; who adds, at the
   front. The first node was taken already; the items are in those behind it.

   [next] of a node
   State        Left by          To                By whom
   End          add            * Node              any task; then it advances [last]
                a taker          Takers [w]        the task that waits
                seal           * Sealed            who closes, or sees that it is closed
   Takers ws    add, ws = w::_ * Takers (ws - w), or End
                                                   any task; it calls w
                a taker          Takers (ws, w)    the task that waits
                cancelled taker  Takers (ws - w), or End
                                                   the task that added w
                seal           * Sealed            the same; it calls all of ws
   Node         sever            Severed           who moved [first] on from this node,
                                                   if it is one of those to be cut off
   Sealed       never (terminal): the stream ends here
   Severed      never (terminal): neither [first] nor [last] is at this node any more

   [first]
   State        Left by          To                By whom
   Node n       take           * Node n'           any task
                an adder         Full              the task that waits: there is no room
                close            Shut n            who closes; then it seals
   Full         take           * Moving            any task; then it moves
                an adder         Full              the task that waits
                cancelled adder  Full, or Node     the task that added it
                close          * Shut n            who closes; it calls the adders, and
                                                   seals
   Moving       take           * Moving            any task: more room to fill
                an adder         Moving            the task that waits
                cancelled adder  Moving            the task that added it
                move             Moving            who moves; it calls an adder, and
                                                   then adds its item
                move             Full, Node        who moves: no room, or no adder, is
                                                   left
                close          * Moving, ended     who closes; it calls the adders
                move, ended      Shut n            who moves; then it seals
   Shut n       take           * Shut n'           any task

   [last]: a node that is the last one or was; whoever finds that it has a successor
   advances it.

   * linearises the operation. One that waited is certain when its resumer answers
   [true]: a take linearises then, an add when its item is in. [take] finds the stream
   at its end when it reads [Sealed]. [take_all] takes several items in one step, but
   what was added since it looked stays.

   To close a stream that is not full linearises when it is sealed, since an add need
   not read [first]: whoever finds it shut seals it before telling so.

   That there is no room is known from the indices of the last and the first node.
   While adders wait, there is none, or their items are being moved ([Moving]): so
   nobody overtakes them. An adder that waited may return a moment before its item is
   in: until then who takes waits for it, and who only tries is told that there is
   nothing. *)
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

let create capacity =
  if capacity < 1 then invalid_arg "Stream.create: capacity < 1";
  (* Nobody reads the value of the first node. *)
  let first = node (Physical.nothing ()) 0 in
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

(* --- Adding --------------------------------------------------------------- *)

(* Whether a node after the one of this index has room, unless others come first. *)
let[@inline never] look_for_room t index =
  match Atomic.get t.first with
  | First (Node { index = first; _ }) ->
      t.seen := first;
      index - first < t.capacity
  | First (Full _) -> false
  | First (Moving { ended = false; _ }) -> false
  | First (Moving { ended = true; _ }) -> raise Closed
  | First (Shut _) ->
      seal t;
      raise Closed

let[@inline] has_room t index =
  index - !(t.seen) < t.capacity || look_for_room t index

(* Adds [v] if there is room: [room] tells, for the index of the last node. The
   node that is found to be the last one still is when this changes it: so nothing
   was added meanwhile, and if there was room there still is. *)
let rec add_if room t v =
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
      else (* somebody added, came to take, or closed *) add_if room t v
  | Next (Takers waiters) as before ->
      room t index
      &&
      let w = Waiters.head waiters in
      let after = takers (Waiters.tail waiters) and outcome = Ok v in
      (Atomic.compare_and_set next before after && Waiter.accepts w outcome)
      ||
      (* another taker, one left, somebody added; or [w] was cancelled *)
      add_if room t v
  | Next (Node _ as n) ->
      advance t last n;
      add_if room t v
  | Next Severed -> (* [last] is another one by now *) add_if room t v
  | Next Sealed -> raise Closed

let try_add t v = add_if has_room t v

(* --- Moving --------------------------------------------------------------- *)

let full first adders =
  if Waiters.is_empty adders then First first
  else First (Full { first; adders })

let rec last_index t =
  let (Node { next; index; _ } as last : _ node) = Atomic.get t.last in
  match Atomic.get next with
  | Next (Node _ as n) ->
      advance t last n;
      last_index t
  | Next Severed -> last_index t
  | Next (End | Takers _ | Sealed) -> index

(* Only who moves adds: there is room for it. *)
let unconditionally _ _ = true

(* A taker has made room while adders waited. It moves their items to the end, also
   those for which other takers make room meanwhile. *)
let rec move t =
  match Atomic.get t.first with
  | First (Moving { first; adders; ended }) as before ->
      if Waiters.is_empty adders then begin
        let after = if ended then First (Shut first) else First first in
        if not (Atomic.compare_and_set t.first before after) then move t
        else if ended then seal_shut t
      end
      else if last_index t - index first = t.capacity then begin
        let after = full first adders in
        if not (Atomic.compare_and_set t.first before after) then move t
      end
      else begin
        let w = Waiters.head adders in
        let after = Moving { first; adders = Waiters.tail adders; ended } in
        if
          Atomic.compare_and_set t.first before (First after)
          && Waiter.accepts w (Ok ())
        then ignore (add_if unconditionally t w.arg : bool);
        (* the next adder; or again after a take, an adder came or left, or closed *)
        move t
      end
  | First (Node _ | Full _ | Shut _) ->
      assert false (* only who moves leaves [Moving] *)

(* --- Taking --------------------------------------------------------------- *)

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
  taken.value <- Physical.nothing ();
  if index land 63 = 0 then sever t n after;
  v

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
          let after = Moving { first = n'; adders; ended = false } in
          if Atomic.compare_and_set t.first before (First after) then begin
            let v = take_out t n n' in
            move t;
            Some v
          end
          else try_take t)
  | Next End | Next (Takers _) -> None
  | Next Severed -> (* [first] is another one by now *) try_take t
  | Next Sealed -> raise Closed

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
      (* added, another taker, one left, or closed *)
      enlist_taker t w
  | Next (Node _ | Sealed) -> false
  | Next Severed -> (* [first] is another one by now *) enlist_taker t w

(* While somebody waits to take, the first node is the last one. *)
let rec withdraw_taker t w =
  let (Node { next; _ } : _ node) = front (Atomic.get t.first) in
  match Atomic.get next with
  | Next (Takers waiters) as before ->
      let after = takers (Waiters.withdraw waiters) in
      if not (Atomic.compare_and_set next before after) then withdraw_taker t w
  | Next (End | Node _ | Sealed) -> ()
  | Next Severed -> (* [first] is another one by now *) withdraw_taker t w

let taking =
  {
    Suspend.attempt = (fun t () -> try_take t);
    enlist = enlist_taker;
    withdraw = withdraw_taker;
  }

let take t =
  match try_take t with Some v -> v | None -> Suspend.wait taking t ()

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
      (* a take, an adder came or left, or closed *)
      enlist_adder t w
  | First (Moving ({ ended = false; _ } as m)) as before ->
      let adders = Waiters.push m.adders w in
      Atomic.compare_and_set t.first before (First (Moving { m with adders }))
      ||
      (* as above, or moved *)
      enlist_adder t w
  | First (Moving { ended = true; _ }) | First (Shut _) -> false

let rec withdraw_adder t w =
  match Atomic.get t.first with
  | First (Full { first; adders }) as before ->
      let after = full first (Waiters.withdraw adders) in
      if not (Atomic.compare_and_set t.first before after) then
        withdraw_adder t w
  | First (Moving m) as before ->
      let adders = Waiters.withdraw m.adders in
      if
        not
          (Atomic.compare_and_set t.first before
             (First (Moving { m with adders })))
      then withdraw_adder t w
  | First (Node _ | Shut _) -> ()

let adding =
  {
    Suspend.attempt = (fun t v -> if try_add t v then Some () else None);
    enlist = enlist_adder;
    withdraw = withdraw_adder;
  }

let add t v = if not (try_add t v) then Suspend.wait adding t v
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
        (* who moves will seal *)
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
  (* The last node, and the items behind [first], last one first. *)
  let rec collect (Node { next; _ } as n : _ node) items =
    match Atomic.get next with
    | Next (Node { value; _ } as n') -> collect n' (value :: items)
    | Next (End | Takers _ | Sealed | Severed) -> (n, items)
  in
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
    if Atomic.compare_and_set t.first before after then begin
      taken.value <- Physical.nothing ();
      sever_next t first;
      (match cell with Full _ -> move t | Node _ | Shut _ | Moving _ -> ());
      List.rev items
    end
    else (* another take, an adder came or left, moved, or closed *) take_all t
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
