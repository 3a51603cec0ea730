(* A box that is empty or holds one value.

   [t], the only Atomic here. Tasks wait in two queues. [ts] wait for a value, which they want
   to take, to read, or to hold ([swap] and [modify] take the value and put one back). [ps]
   wait to put a value.

   State             Left by            To                      By whom
   Empty ts          put, ts = []     * Full (v, [], [])        any task
                     put, ts = w::_     Empty (ts - w)          any task, if w takes; it resumes w
                     put, ts = w::_     Held (ts, [])           any task, if w reads or holds; it
                                                                then gives v
   Full (v, ps, ts)  take, ps = []    * Empty ts                any task
                     take, ps = p::_  * Held (ts, ps - p)       any task; it resumes p, and then
                                                                gives p's value, or vacates
                     hold             * Held (ts, ps)           any task
                     swap             * Full (v', ps, ts)       any task
                     give_up            Held (ts, ps)           the nudged task; it then gives v
   Held (ts, ps)     give, ts = []    * Full (v, ps, [])        the holder
                     give, ts = w::_    Held (ts - w, ps)       the holder; it resumes w, and then
                                                                vacates if w takes, or gives on if
                                                                w reads; if w holds, w becomes
                                                                the holder
                     give, ts = w::_    Full (v, ps, ts - w)    the holder; it nudges w
                     vacate, ps = []    Empty ts                the holder
                     vacate, ps = p::_  Held (ts, ps - p)       the holder; it resumes p, and then
                                                                gives p's value, or vacates

   In addition, waiters enter [ts] or [ps] in each state, and withdraw. A value that was taken
   comes back ([take_back]) if its task was cancelled before it could continue. It is then put,
   and the value that is in the box by then waits behind it.

   * linearises the operation of the task that does it. An operation that waited linearises
   when its resumer answers [true]. A waiter that refuses has left its queue, and the next one
   is served.

   In [Held], one task, the holder, has the box in its hands, with or without a value. It must
   then [give] a value or [vacate] the box. A task holds the box while it hands over to waiters
   that decide what comes next, so no task overtakes them, and while the function of [modify]
   runs.

   No task waits in vain, for these reasons. In [Empty], no task waits to put. In [Full], tasks
   wait for a value only while a nudged task is on its way. And [Held] ends only when the
   holder has served all that it can.

   A task that wants to hold, but waits in a sleeping thread, isn't given the value. It is
   nudged, which means that it is woken to try again ({!Nudge}), because all other tasks would
   otherwise have to wait until the thread is awake. In each state, one nudged task may be on
   its way. Until it arrives, nothing is given to [ts]. Other tasks may take from a full box
   meanwhile. But if too many have overtaken the nudged task, or for too long, they wait in
   [ts]. This ends when the nudged task has taken the value, waits again as the first of [ts],
   or gives up. If it waits again, the line still has the number and the time, until the task
   leaves [ts]. Then it is nudged again, if more may overtake it, and otherwise it is given the
   value.

   A put that waited may return a moment before its value is in the box. Until then the box is
   [Held], so a task that takes waits for the value, and one that only tries finds nothing.

   {!Holders} is for reports. It does nothing unless waits are kept. *)

type purpose = Take | Read | Hold of Holders.t
type request = { purpose : purpose; nudge : Nudge.t }

(* Whether a task is nudged, how many have overtaken it, and since when they may. *)
type nudged =
  | Nobody
  | In_order  (** No task is ever nudged. *)
  | Coming of { overtaken : int; since : int }
  | In_vain of { overtaken : int; since : int }
      (** It came in vain, and waits again as the first taker. *)

(* The tasks that wait for a value, [ts] above. *)
type 'a line = { takers : (request, 'a) Waiters.t; nudged : nudged }

type 'a state =
  | Empty of 'a line
  | Full of 'a * ('a, unit) Waiters.t * 'a line
  | Held of {
      by : Holders.t;  (** Unknown unless waits are kept. *)
      line : 'a line;
      putters : ('a, unit) Waiters.t;
    }

type 'a t = 'a state Atomic.t

(* All lines without takers and nudged tasks are this constant, and all states [Empty] of it are
   [empty]. So the fast paths below compare with them by [==]. *)
let no_line = { takers = Waiters.empty; nudged = Nobody }
let line_in_order = { no_line with nudged = In_order }

(* Without takers, none has come in vain. *)
let[@inline] with_takers takers line =
  match line.nudged with
  | (Nobody | In_vain _) when Waiters.is_empty takers -> no_line
  | Nobody | In_vain _ | In_order | Coming _ -> { line with takers }

let with_nobody line =
  if Waiters.is_empty line.takers then no_line
  else { line with nudged = Nobody }

let empty = Empty no_line
let full v = Full (v, Waiters.empty, no_line)
let emptied line = if line == no_line then empty else Empty line
let kind = "mvar"
let made ?name state = Observer.made ~kind ?name (Atomic.make state)
let create_empty ?name () = made ?name empty
let create_empty_in_order ?name () = made ?name (emptied line_in_order)
let create ?name v = made ?name (Full (v, Waiters.empty, no_line))

let create_in_order ?name v =
  made ?name (Full (v, Waiters.empty, line_in_order))

(* --- Steps ---------------------------------------------------------------- *)

let[@inline] held line putters = Held { by = Holders.unknown; line; putters }
let not_held () = assert false (* only the holder leaves [Held] *)

let is_coming line =
  match line.nudged with
  | Coming _ -> true
  | Nobody | In_order | In_vain _ -> false

let not_coming line = if is_coming line then with_nobody line else line

(* If a task has come in vain, it is the first one. *)
let without_first line =
  let rest = with_takers (Waiters.tail line.takers) line in
  match rest.nudged with
  | In_vain _ -> with_nobody rest
  | Nobody | In_order | Coming _ -> rest

(* Only a task that wants to hold the box is nudged. A task that takes or reads doesn't keep
   the box from others, so it may be slow to wake up. Besides, if a task puts a value and then
   takes one, it must not get its own value while another task waits for it. *)
let is_to_be_nudged { purpose; nudge } line =
  match (purpose, line.nudged) with
  | (Take | Read), _ | Hold _, (In_order | Coming _) -> false
  | Hold _, In_vain { overtaken; since } when Nudge.is_over nudge ->
      Nudge.is_due nudge && Nudge.may_overtake ~overtaken ~since
  | Hold _, (Nobody | In_vain _) -> Nudge.is_due nudge

(* The line after the first waiter, which has this request, was nudged. *)
let after_nudge { nudge; _ } line =
  let takers = Waiters.tail line.takers in
  match line.nudged with
  | In_vain { overtaken; since } when Nudge.is_over nudge ->
      { takers; nudged = Coming { overtaken; since } }
  | In_vain _ | Nobody | In_order | Coming _ ->
      { takers; nudged = Coming { overtaken = 0; since = Nudge.now_ns () } }

(* The holder has [v] for the waiting tasks. In each of these steps, [result] is the result of
   the operation that the step is a part of. *)
let rec give result v : _ -> _ Step.t = function
  | Empty _ | Full _ -> not_held ()
  | Held { line; putters; _ }
    when is_coming line || Waiters.is_empty line.takers ->
      Return (Full (v, putters, line), result)
  | Held { by; line; putters } -> give_taker result v by line putters

and[@inline never] give_taker result v by line putters : _ Step.t =
  let w = Waiters.head line.takers in
  if is_to_be_nudged w.arg line then
    Hand_over
      {
        state = Full (v, putters, after_nudge w.arg line);
        waiter = w;
        outcome = Nudge.outcome;
        accepted = Done result;
        refused = Then (give_up result);
      }
  else
    let accepted, by =
      match w.arg.purpose with
      | Take -> (Step.Then (vacate result), by)
      | Read -> (Again, by)
      | Hold by -> (* the resumed task becomes the holder *) (Done result, by)
    in
    let state = Held { by; line = without_first line; putters } in
    Hand_over { state; waiter = w; outcome = Ok v; accepted; refused = Again }

(* The nudged task doesn't come. *)
and give_up result : _ -> _ Step.t = function
  | Full (v, putters, line) when is_coming line ->
      Become (held (not_coming line) putters, Then (give result v))
  | Empty line -> Return (emptied (not_coming line), result)
  | Held h -> Return (Held { h with line = not_coming h.line }, result)
  | Full _ as state -> Return (state, result)

(* The holder has no value. *)
and vacate result : _ -> _ Step.t = function
  | Empty _ | Full _ -> not_held ()
  | Held { line; putters; _ } when Waiters.is_empty putters ->
      Return (emptied line, result)
  | Held { line; putters; _ } -> hand_to_putter result line putters

(* The putter's value may come into the box only after the putter has accepted. *)
and hand_to_putter result line putters : _ Step.t =
  let p = Waiters.head putters in
  Hand_over
    {
      state = held line (Waiters.tail putters);
      waiter = p;
      outcome = Ok ();
      accepted = Then (give result p.arg);
      refused = Then (vacate result);
    }

let may_take request line =
  match line.nudged with
  | Coming { overtaken; since } ->
      Nudge.is_over request.nudge || Nudge.may_overtake ~overtaken ~since
  | Nobody | In_order | In_vain _ -> true

(* The line after the task of [request] has taken the value. *)
let taken_from request line =
  match line.nudged with
  | Coming _ when Nudge.is_over request.nudge -> with_nobody line
  | Coming { overtaken; since } ->
      { line with nudged = Coming { overtaken = overtaken + 1; since } }
  | Nobody | In_order | In_vain _ -> line

let use request : _ -> _ Step.t = function
  | Empty _ | Held _ -> Wait
  | Full (v, putters, line) as full -> (
      match request.purpose with
      | Read -> Return (full, v)
      | (Take | Hold _) when not (may_take request line) -> Wait
      | Hold by ->
          Return (Held { by; line = taken_from request line; putters }, v)
      | Take when Waiters.is_empty putters ->
          Return (emptied (taken_from request line), v)
      | Take -> hand_to_putter v (taken_from request line) putters)

(* Is a value for the first waiter, which takes it? No other task sees the value unless that
   waiter accepts it, so the box need not be held meanwhile. *)
let[@inline] is_for_taker line =
  (not (Waiters.is_empty line.takers))
  && (Waiters.head line.takers).arg.purpose == Take
  && not (is_coming line)

let put_in v : _ -> _ Step.t = function
  | Full _ | Held _ -> Wait
  | Empty line when is_for_taker line ->
      Step.to_first line.takers (Ok v) (emptied (without_first line)) ()
  | Empty line when is_coming line || Waiters.is_empty line.takers ->
      Return (Full (v, Waiters.empty, line), ())
  | Empty line -> Become (held line Waiters.empty, Then (give () v))

(* A value that was taken comes back, before all others. If there is another one by now, that
   waits behind it as if a task had come to put it. *)
let take_back v : _ -> _ Step.t = function
  | Empty _ as empty -> put_in v empty
  | Full (next, putters, line) ->
      let putters = Waiters.(push_first putters (Waiter.make_willing next)) in
      Return (Full (v, putters, line), ())
  | Held h ->
      let putters = Waiters.(push_first h.putters (Waiter.make_willing v)) in
      Return (Held { h with putters }, ())

(* The last part of an operation of the holder. *)
let release_step v state = give () v state

(* --- The waiters ---------------------------------------------------------- *)

let[@inline] in_line change w line = with_takers (change line.takers w) line

let takers change w = function
  | Empty line -> emptied (in_line change w line)
  | Full (v, putters, line) -> Full (v, putters, in_line change w line)
  | Held h -> Held { h with line = in_line change w h.line }

let first_again w line =
  let takers = Waiters.push_first line.takers w in
  match line.nudged with
  | Coming { overtaken; since } ->
      { takers; nudged = In_vain { overtaken; since } }
  | Nobody | In_order | In_vain _ -> with_takers takers line

(* The task was nudged, but comes in vain. It waits again, so it is no longer on its way. A full
   box lets it take the value, so it doesn't wait there. *)
let takers_again w = function
  | Empty line -> emptied (first_again w line)
  | Held h -> Held { h with line = first_again w h.line }
  | Full _ as state -> state

let putters change w = function
  | Empty _ as state -> state
  | Full (v, putters, line) -> Full (v, change putters w, line)
  | Held h -> Held { h with putters = change h.putters w }

let holders t =
  match Atomic.get t with
  | Held { by; _ } -> Holders.to_list by
  | Empty _ | Full _ -> []

let operation =
  {
    Operation.default with
    spin = Before;
    holders;
    how =
      By_steps
        { word = Fun.id; step = use; queue = takers; left = Step.finished };
  }

let how_again =
  Operation.By_hand
    {
      attempt = (fun t request -> Step.attempt t use request);
      enlist = (fun t w -> Step.enlist t use (fun _ -> takers_again) w);
      withdraw = (fun t w -> Step.withdraw t takers Step.finished w);
    }

let undo_take t _ v =
  Step.surely t take_back v;
  true

let taking = { operation with name = "Mvar.take"; undo = undo_take }

let reading =
  { operation with name = "Mvar.read"; undo = Operation.undo_nothing }

(* Only a task that wants to hold the box is nudged. *)
let swapping =
  {
    Nudge.operation = { operation with name = "Mvar.swap" };
    how_again;
    of_arg = (fun request -> request.nudge);
    with_arg = (fun request nudge -> { request with nudge });
    give_up = (fun t _ -> Sys.opaque_identity (Step.surely t give_up ()));
  }

let modifying =
  { swapping with operation = { operation with name = "Mvar.modify" } }

(* One attempt of a task that spins to put. It puts the value of [filled], which is [full v] and
   becomes the state if no task waits. *)
let put_filled t filled () =
  match (Atomic.get t, filled) with
  | (Empty _ as before), _
    when before == empty && Atomic.compare_and_set t before filled ->
      Some ()
  | Empty _, Full (v, _, _) -> Step.attempt t put_in v
  | _ -> None

(* [full v] is allocated before the attempts. Otherwise the compare-and-set would stall until
   the new block is written. *)
let putting =
  let attempt = put_filled and in_choice = true in
  let own =
    Operation.Own { pace = Spin.soon; prepare = full; attempt; in_choice }
  in
  {
    Operation.default with
    name = "Mvar.put";
    undo = Operation.undo_nothing;
    spin = In_its_own_way own;
    holders;
    how =
      By_steps
        { word = Fun.id; step = put_in; queue = putters; left = Step.finished };
  }

(* --- Holding --------------------------------------------------------------

   In the rest of the file, each operation first tries by hand what is usual, where that is one
   or two changes without a step. In all other cases it performs its step, which is above. So a
   function that is written by hand must do what the step would do in that state. *)

let to_take = { purpose = Take; nudge = Nudge.never }
let to_read = { to_take with purpose = Read }
let to_hold = { to_take with purpose = Hold Holders.unknown }

let[@inline] hold_by by =
  if by == Holders.unknown then to_hold else { to_hold with purpose = Hold by }

let[@inline never] hold_or_wait waiting t request =
  match Step.attempt t use request with
  | Some v -> v
  | None -> Nudge.wait waiting t request

let[@inline] hold t by =
  match Atomic.get t with
  | Full (v, putters, line) as before
    when line == no_line
         && Atomic.compare_and_set t before (Held { by; line; putters }) ->
      v
  | _ ->
      Holders.waits by;
      hold_or_wait modifying t (hold_by by)

let[@inline] released t v =
  match Atomic.get t with
  | Held { line; putters; _ } as before when line == no_line ->
      Atomic.compare_and_set t before (Full (v, putters, line))
  | Held _ | Empty _ | Full _ -> false

(* Unbroken, from the moment when the box is held until it is released. So none of these
   functions ends in a call. *)
let release t v =
  Step.give_back ~fast:released t release_step v;
  ()

(* --- Taking --------------------------------------------------------------- *)

let try_take t = Step.attempt t use to_take
let try_read t = Step.attempt t use to_read

let[@inline never] take_or_wait t =
  match Step.attempt t use to_take with
  | Some v -> v
  | None -> Operation.wait taking t to_take

(* The step [hand_to_putter] by hand, in a box that has no line. Unbroken from the first
   compare-and-set on, which makes the task the holder. If the resumer raises, the putter has
   accepted. The last state is allocated before, because no other task comes meanwhile as a
   rule. *)
let[@inline never] take_from_putter t before v putters =
  let p = Waiters.head putters and rest = Waiters.tail putters in
  let holding = held no_line rest and after = Full (p.arg, rest, no_line) in
  if Atomic.compare_and_set t before holding then begin
    (match Waiter.resume p (Ok ()) with
    | true ->
        if not (Atomic.compare_and_set t holding after) then release t p.arg
    | false -> Step.surely t vacate ()
    | exception e ->
        Sys.opaque_identity (Step.surely_then_raise t release_step p.arg e));
    v
  end
  else (* another task changed the box first *) take_or_wait t

(* From an empty or held box, the task waits at once. The step isn't asked before, because it is
   asked when the task is enlisted. *)
let take t =
  match Atomic.get t with
  | Full (v, putters, line) as before when line == no_line ->
      if not (Waiters.is_empty putters) then take_from_putter t before v putters
      else if Atomic.compare_and_set t before empty then v
      else take_or_wait t
  | Full _ -> take_or_wait t
  | Empty _ | Held _ -> Operation.wait taking t to_take

let read t =
  match Atomic.get t with
  | Full (v, _, _) -> v
  | Empty _ | Held _ -> Operation.wait reading t to_read

let take_evt t = Event.make taking t to_take
let read_evt t = Event.make reading t to_read

(* --- Putting -------------------------------------------------------------- *)

let[@inline never] put_by_step t v = Option.is_some (Step.attempt t put_in v)

let[@inline never] put_into_line t v before line =
  (is_for_taker line
  &&
  let w = Waiters.head line.takers and outcome = Ok v in
  let after = emptied (without_first line) in
  Atomic.compare_and_set t before after && Waiter.resume w outcome)
  ||
  (* another case, or the box has changed, or [w] refused *)
  put_by_step t v

let[@inline] try_put t v =
  match Atomic.get t with
  | Empty line as before ->
      if before == empty then
        Atomic.compare_and_set t before (full v) || put_by_step t v
      else put_into_line t v before line
  | Full _ | Held _ -> false

let put t v = if not (try_put t v) then Operation.wait putting t v
let put_evt t v = Event.make putting t v

(* --- Swapping and modifying --------------------------------------------------- *)

let[@inline] replace_as by t f old =
  Holders.taken by;
  Sys.opaque_identity (Step.replacing ~fast:released t release_step f old)

let swap_held t v old =
  release t v;
  old

let swap t v =
  match Atomic.get t with
  | Full (old, putters, line) as before
    when line == no_line
         && Atomic.compare_and_set t before (Full (v, putters, line)) ->
      old
  | _ -> swap_held t v (hold_or_wait swapping t to_hold)

let[@inline] modify_as by t f = replace_as by t f (hold t by)

let[@inline never] modify_known t f =
  Holding.within ~kind t (fun by f -> modify_as by t f) f

let modify t f =
  if Observer.looks_at_takers () then modify_known t f
  else modify_as Holders.unknown t f

let swap_evt t v =
  let finish old = Sys.opaque_identity (swap_held t v old) in
  Event.make_by (Finish finish) swapping.operation t to_hold

let modify_evt t f =
  let event by t =
    Event.make_by
      (Finish (fun old -> Sys.opaque_identity (replace_as by t f old)))
      modifying.operation t (hold_by by)
  in
  Holding.event event t

(* --- Inspecting the box --------------------------------------------------- *)

let is_empty t =
  match Atomic.get t with Full _ -> false | Empty _ | Held _ -> true

let waiters t =
  match Atomic.get t with
  | Empty line -> Waiters.length line.takers
  | Full (_, putters, line) | Held { line; putters; _ } ->
      Waiters.length line.takers + Waiters.length putters
