include Mvar_state

(* --- Taking --------------------------------------------------------------- *)

(* Not inlined, as a task that waits would have room for it on its stack. *)
let[@inline never] try_remove_for_next t before putters =
  let p = Waiters.head putters in
  let after = Held (Waiters.empty, Waiters.tail putters)
  and debt = Debt.owing (Give p.arg) in
  Atomic.compare_and_set t before after
  && begin
    if not (Debt.resume debt p (Ok ())) then debt.owed <- Vacate;
    Debt.pay settle t debt;
    true
  end

(* The box was [Full (v, putters)], and [v] is the caller's if this succeeds. *)
let[@inline] try_remove t before putters =
  if Waiters.is_empty putters then Atomic.compare_and_set t before empty
  else try_remove_for_next t before putters

(* What [purpose] does with a full box. *)
let try_use t before putters = function
  | Take -> try_remove t before putters
  | Read -> true
  | Hold -> Atomic.compare_and_set t before (Held (Waiters.empty, putters))

let rec try_to t purpose =
  match Atomic.get t with
  | Full (v, putters) as before ->
      (* made before: what is allocated after it may be interrupted by a signal handler,
         and nobody would give back what [Hold] has taken *)
      let found = Some v in
      if try_use t before putters purpose then found
      else (* the box changed: look again *) try_to t purpose
  | Empty _ | Held _ -> None

let rec enlist_taker t w =
  match Atomic.get t with
  | Full _ -> false
  | Empty takers as before ->
      Atomic.compare_and_set t before (Empty (Waiters.push takers w))
      ||
      (* the box changed: look again *)
      enlist_taker t w
  | Held (takers, putters) as before ->
      Atomic.compare_and_set t before (Held (Waiters.push takers w, putters))
      ||
      (* the box changed: look again *)
      enlist_taker t w

let withdraw_taker t w =
  Operation.leave t w @@ function
  | Full _ as state -> state
  | Empty takers -> Empty (Waiters.count_gone takers)
  | Held (takers, putters) -> Held (Waiters.count_gone takers, putters)

let using =
  {
    Operation.attempt = try_to;
    enlist = enlist_taker;
    withdraw = withdraw_taker;
  }

let rec use_or_wait t purpose =
  match Atomic.get t with
  | Full (v, putters) as before ->
      if try_use t before putters purpose then v
      else (* the box changed: look again *) use_or_wait t purpose
  | Empty _ | Held _ -> Operation.wait using t purpose

(* Who looks only sees that the box is full: nothing is allocated between that and the step,
   which would wait until it is written. *)
let if_full t () =
  match Atomic.get t with Full _ -> Some () | Empty _ | Held _ -> None

let[@inline never] look_then_use t purpose =
  if Operation.may_look () then
    ignore (Operation.attempt_at_change t if_full t () : unit option);
  use_or_wait t purpose

let rec use t purpose =
  match Atomic.get t with
  | Full (v, putters) as before ->
      if try_use t before putters purpose then v
      else (* the box changed: look again *) use t purpose
  | Empty _ | Held _ -> look_then_use t purpose

let take t = use t Take
let read t = use t Read
let take_available t = try_to t Take
let try_take = take_available
let try_read t = try_to t Read
let take_evt t = Event.make_soon using t Take
let read_evt t = Event.make_soon using t Read

(* --- Putting -------------------------------------------------------------- *)

let[@inline never] try_put_held t before takers v =
  let held = Held (takers, Waiters.empty) and debt = Debt.owing (Give v) in
  Atomic.compare_and_set t before held
  && begin
    Debt.pay settle t debt;
    true
  end

let rec try_put t v =
  match Atomic.get t with
  | Full _ | Held _ -> false
  | Empty takers as before ->
      if Waiters.is_empty takers then
        Atomic.compare_and_set t before (full v)
        ||
        (* the box changed: look again *)
        try_put t v
      else begin
        let w = Waiters.head takers in
        match w.Waiter.arg with
        | Take ->
            (* Nobody sees [v] unless [w] accepts it: no need to hold the box. *)
            let after =
              let rest = Waiters.tail takers in
              if Waiters.is_empty rest then empty else Empty rest
            and outcome = Ok v in
            (Atomic.compare_and_set t before after && Waiter.resume w outcome)
            ||
            (* the box changed, or [w] refused *)
            try_put t v
        | Read | Hold ->
            try_put_held t before takers v
            ||
            (* the box changed: look again *)
            try_put t v
      end

let rec enlist_putter t p =
  match Atomic.get t with
  | Empty _ -> false
  | Full (v, putters) as before ->
      Atomic.compare_and_set t before (Full (v, Waiters.push putters p))
      ||
      (* the box changed: look again *)
      enlist_putter t p
  | Held (takers, putters) as before ->
      Atomic.compare_and_set t before (Held (takers, Waiters.push putters p))
      ||
      (* the box changed: look again *)
      enlist_putter t p

let withdraw_putter t w =
  Operation.leave t w @@ function
  | Empty _ as state -> state
  | Full (v, putters) -> Full (v, Waiters.count_gone putters)
  | Held (takers, putters) -> Held (takers, Waiters.count_gone putters)

let putting =
  {
    Operation.attempt = (fun t v -> if try_put t v then Some () else None);
    enlist = enlist_putter;
    withdraw = withdraw_putter;
  }

(* [full v], if the box is to become that. *)
let rec put_full t full =
  match (Atomic.get t, full) with
  | (Empty takers as before), _ when Waiters.is_empty takers ->
      if Atomic.compare_and_set t before full then Some ()
      else (* the box changed: look again *) put_full t full
  | Empty _, Full (v, _) -> if try_put t v then Some () else None
  | _ -> None

(* What a box is to become is made before the look: the step would wait until it is
   written. It has a cache line of its own, as this domain would write what it allocates
   next while the other one reads. *)
let[@inline never] look_then_put t v =
  if Operation.may_look () then begin
    let full = full v in
    Padding.allocate ();
    match Operation.attempt_at_change t put_full t full with
    | Some () -> ()
    | None -> Operation.wait putting t v
  end
  else Operation.wait putting t v

let put t v = if not (try_put t v) then look_then_put t v
let put_evt t v = Event.make_soon putting t v

(* --- Both at once --------------------------------------------------------- *)

let swap_held t v old =
  give t v;
  old

let rec swap t v =
  match Atomic.get t with
  | Full (old, putters) as before ->
      if Atomic.compare_and_set t before (Full (v, putters)) then old
      else (* the box changed: look again *) swap t v
  | Empty _ | Held _ -> swap_held t v (look_then_use t Hold)

let[@inline] modify_held t f old =
  match f old with
  | v, result ->
      give t v;
      result
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      give t old;
      Printexc.raise_with_backtrace e backtrace

(* While waits are kept, the task that holds the box is known. What notes it is allocated
   before the task has the box: a signal handler may raise there, and nobody would give the
   box back. *)
let noted t f by old = Labels.holding t (Waits.held by) (fun () -> f old)

let[@inline never] modify_known t f =
  Extent.within (fun by ->
      let f = noted t f by in
      modify_held t f (use t Hold))

let modify t f =
  if Waits.are_kept () then modify_known t f else modify_held t f (use t Hold)

let modify_noted t f old begun =
  Extent.within (fun by ->
      let f = noted t f by in
      begun := true;
      modify_held t f old)

let[@inline never] finish_modify_known t f old =
  match ref false with
  | begun -> (
      try modify_noted t f old begun
      with e when not !begun ->
        (* a signal handler's *)
        give t old;
        raise e)
  | exception e ->
      (* as well *)
      give t old;
      raise e

let finish_modify t f old =
  if Waits.are_kept () then finish_modify_known t f old else modify_held t f old

let swap_evt t v = Event.make_with ~finish:(swap_held t v) using t Hold
let modify_evt t f = Event.make_with ~finish:(finish_modify t f) using t Hold

(* --- Looking -------------------------------------------------------------- *)

let is_empty t =
  match Atomic.get t with Full _ -> false | Empty _ | Held _ -> true

let waiters t =
  match Atomic.get t with
  | Empty takers -> Waiters.length takers
  | Full (_, putters) -> Waiters.length putters
  | Held (takers, putters) -> Waiters.length takers + Waiters.length putters
