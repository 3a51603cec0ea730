(* [t], the only Atomic here

   State           Left by            To                      By whom
   Empty ts        put, ts = []     * Full (v, [])            any task
                   put, ts = w::_     Empty (ts - w)          any task; it calls w
                   put, ts = w::_     Held (ts, [])           any task (w reads or holds)
   Full (v, ps)    take, ps = []    * Empty []                any task
                   take, ps = p::_  * Held ([], ps - p)       any task; it calls p
                   swap             * Full (v', ps)           any task
                   modify           * Held ([], ps)           any task
   Held (ts, ps)   give, ts = []    * Full (v, ps)            the holder
                   give, ts = w::_    Held (ts - w, ps)       the holder; it calls w
                   vacate, ps = []    Empty ts                the holder
                   vacate, ps = p::_  Held (ts, ps - p)       the holder; it calls p

   and in each state waiters come to [ts] or [ps], and withdraw.

   * linearises the operation of the task that does it. An operation that waited
   linearises when its resumer answers [true].

   [Held]: one task has the box in its hands, with or without a value, and owes to [give] a
   value or to [vacate] it. It holds the box while it hands over to the waiters that decide
   what comes next, so that no task overtakes meanwhile, or while the function of [modify]
   runs. The holder changes when a waiter that wants to hold is resumed: then that task has
   the box, and its value.

   A put that was told [true] may return a moment before its value is in the box. Until
   then the box is [Held]: a task that takes waits for the value, and one that only tries
   finds nothing. *)

type purpose = Take | Read | Hold of Holders.t

type 'a state =
  | Empty of (purpose, 'a) Waiters.t
  | Full of 'a * ('a, unit) Waiters.t
  | Held of {
      by : Holders.t;  (** If it is known. *)
      takers : (purpose, 'a) Waiters.t;
      putters : ('a, unit) Waiters.t;
    }

type 'a t = 'a state Atomic.t

let empty = Empty Waiters.empty
let full v = Full (v, Waiters.empty)
let emptied takers = if Waiters.is_empty takers then empty else Empty takers
let made ?name state = Labels.made ~kind:"mvar" ?name (Atomic.make state)
let create_empty ?name () = made ?name empty
let create ?name v = made ?name (full v)

(* --- Steps ---------------------------------------------------------------- *)

let[@inline] held takers putters =
  Held { by = Holders.unknown; takers; putters }

let unknown = Hold Holders.unknown
let[@inline] hold_by by = if by == Holders.unknown then unknown else Hold by
let not_held () = assert false (* only the holder leaves [Held] *)

(* The holder has [v] for those who wait. [result] is that of its own operation. *)
let rec give result v : _ -> _ Step.t = function
  | Empty _ | Full _ -> not_held ()
  | Held { takers; putters; _ } when Waiters.is_empty takers ->
      Return (Full (v, putters), result)
  | Held { by; takers; putters } ->
      let w = Waiters.head takers and takers = Waiters.tail takers in
      let accepted, by =
        match w.arg with
        | Take -> (Step.Then (vacate result), by)
        | Read -> (Again, by)
        | Hold by -> (* the resumed task is the holder now *) (Done result, by)
      in
      let state = Held { by; takers; putters } in
      Hand_over { state; waiter = w; outcome = Ok v; accepted; refused = Again }

(* The holder has nothing. *)
and vacate result : _ -> _ Step.t = function
  | Empty _ | Full _ -> not_held ()
  | Held { takers; putters; _ } when Waiters.is_empty putters ->
      Return (emptied takers, result)
  | Held { takers; putters; _ } -> hand_to_putter result takers putters

and hand_to_putter result takers putters : _ Step.t =
  let p = Waiters.head putters in
  Hand_over
    {
      state = held takers (Waiters.tail putters);
      waiter = p;
      outcome = Ok ();
      accepted = Then (give result p.arg);
      refused = Then (vacate result);
    }

let use purpose : _ -> _ Step.t = function
  | Empty _ | Held _ -> Wait
  | Full (v, putters) as full -> (
      match purpose with
      | Read -> Return (full, v)
      | Hold by -> Return (Held { by; takers = Waiters.empty; putters }, v)
      | Take when Waiters.is_empty putters -> Return (empty, v)
      | Take -> hand_to_putter v Waiters.empty putters)

let put_in v : _ -> _ Step.t = function
  | Full _ | Held _ -> Wait
  | Empty takers when Waiters.is_empty takers -> Return (full v, ())
  | Empty takers -> (
      let w = Waiters.head takers in
      match w.arg with
      | Take ->
          (* nobody sees [v] unless [w] accepts it: no need to hold the box *)
          Hand_over
            {
              state = emptied (Waiters.tail takers);
              waiter = w;
              outcome = Ok v;
              accepted = Step.finished;
              refused = Again;
            }
      | Read | Hold _ -> Become (held takers Waiters.empty, Then (give () v)))

(* As the last part of an operation whose result is known already. *)
let put_back v state = give () v state

(* --- Who waits ------------------------------------------------------------ *)

let takers change w = function
  | Full _ as state -> state
  | Empty takers -> emptied (change takers w)
  | Held h -> Held { h with takers = change h.takers w }

let putters change w = function
  | Empty _ as state -> state
  | Full (v, putters) -> Full (v, change putters w)
  | Held h -> Held { h with putters = change h.putters w }

let holders t =
  match Atomic.get t with
  | Held { by; _ } -> Holders.to_list by
  | Empty _ | Full _ -> []

let using =
  Operation.By_steps
    { word = Fun.id; step = use; queue = takers; left = Step.finished }

let taking =
  {
    Operation.default with
    name = "Mvar.take";
    spin = Before;
    holders;
    how = using;
  }

let reading = { taking with name = "Mvar.read" }
let swapping = { taking with name = "Mvar.swap" }
let modifying = { taking with name = "Mvar.modify" }

let putting =
  {
    Operation.default with
    name = "Mvar.put";
    spin = Before;
    holders;
    how =
      By_steps
        { word = Fun.id; step = put_in; queue = putters; left = Step.finished };
  }

(* --- Taking --------------------------------------------------------------- *)

let take_available t = Step.attempt t use Take
let try_take = take_available
let try_read t = Step.attempt t use Read

let[@inline never] use_or_wait operation t purpose =
  match Step.attempt t use purpose with
  | Some v -> v
  | None -> Operation.wait operation t purpose

let take t =
  match Atomic.get t with
  | Full (v, putters) as before
    when Waiters.is_empty putters && Atomic.compare_and_set t before empty ->
      v
  | _ -> use_or_wait taking t Take

let read t =
  match Atomic.get t with Full (v, _) -> v | _ -> use_or_wait reading t Read

let take_evt t = Event.make taking t Take
let read_evt t = Event.make reading t Read

(* --- Putting -------------------------------------------------------------- *)

let[@inline] try_put t v =
  match Atomic.get t with
  | Empty takers as before
    when Waiters.is_empty takers && Atomic.compare_and_set t before (full v) ->
      true
  | Empty _ -> Option.is_some (Step.attempt t put_in v)
  | Full _ | Held _ -> false

(* [full v], if the box is to become that. *)
let put_full t full () =
  match (Atomic.get t, full) with
  | (Empty takers as before), _
    when Waiters.is_empty takers && Atomic.compare_and_set t before full ->
      Some ()
  | Empty _, Full (v, _) -> Step.attempt t put_in v
  | _ -> None

(* What a box is to become is made before the attempts, because otherwise the
   compare-and-set would stall until what was just allocated is written. Then a message takes
   1.3 times as long. *)
let[@inline never] spin_then_put t v =
  match Operation.spin Spin.soon put_full t (full v) () with
  | Some () -> ()
  | None -> Operation.suspend putting t v

let put t v = if not (try_put t v) then spin_then_put t v
let put_evt t v = Event.make putting t v

(* --- Both at once --------------------------------------------------------- *)

let[@inline] hold t by =
  match Atomic.get t with
  | Full (v, putters) as before
    when Atomic.compare_and_set t before
           (Held { by; takers = Waiters.empty; putters }) ->
      v
  | _ ->
      Holders.waits by;
      use_or_wait modifying t (hold_by by)

let[@inline] given_back t v =
  match Atomic.get t with
  | Held { takers; putters; _ } as before when Waiters.is_empty takers ->
      Atomic.compare_and_set t before (Full (v, putters))
  | Held _ | Empty _ | Full _ -> false

(* From when the box is held none of these functions ends in a call: before it the compiler
   would put a poll, where a signal handler could raise before the box is given back. *)
let give_back t v =
  Step.give_back ~fast:given_back t put_back v;
  ()

let[@inline] replace_as by t f old =
  Holders.taken by;
  Sys.opaque_identity (Step.replacing ~fast:given_back t put_back f old)

let swap_held t v old =
  give_back t v;
  old

let swap t v =
  match Atomic.get t with
  | Full (old, putters) as before
    when Atomic.compare_and_set t before (Full (v, putters)) ->
      old
  | _ -> swap_held t v (use_or_wait swapping t unknown)

let[@inline] modify_as by t f = replace_as by t f (hold t by)

let[@inline never] modify_known t f =
  Holders.within (fun by -> modify_as by t f)

let modify t f =
  if Holders.are_known () then modify_known t f
  else modify_as Holders.unknown t f

let swap_evt t v = Event.make_by (Finish (swap_held t v)) swapping t unknown

let modify_evt t f =
  let event by t =
    Event.make_by (Finish (replace_as by t f)) modifying t (hold_by by)
  in
  Holding.event event t

(* --- Looking -------------------------------------------------------------- *)

let is_empty t =
  match Atomic.get t with Full _ -> false | Empty _ | Held _ -> true

let waiters t =
  match Atomic.get t with
  | Empty takers -> Waiters.length takers
  | Full (_, putters) -> Waiters.length putters
  | Held { takers; putters; _ } ->
      Waiters.length takers + Waiters.length putters
