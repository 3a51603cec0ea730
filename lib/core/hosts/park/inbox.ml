(* The states of [cell]. The queue consists of cells.

   State    Left by      To      By whom
   Empty    post         Full    the one thread that took the cell from [tail]
            fall_asleep  Asleep  the loop, at the cell [head]
   Asleep   post         Full    that thread, which then wakes the loop
            wake_up      Empty   the loop
   Full     serve        Served  the loop, for some of them
   Served   never (terminal)

   [tail] is the cell for the next message

   Left by  To            By whom
   post     a fresh cell  any thread, which then fills the cell that it took

   A thread may have taken a cell, but not filled it yet. Meanwhile it hides the messages that
   others post behind it. The loop then sees an empty cell, and may fall asleep at it. But the
   thread will find that cell Asleep, and wake the loop. So the loop never waits for a thread.

   [decide] decides, takes a cell and fills it in one function without a polling point
   (unbroken). For this reason, the message and the next cell are allocated before. *)
type 'a cell = 'a content Atomic.t

and 'a content =
  | Empty
  | Asleep
  | Full of { message : 'a; next : 'a cell }
  | Served

(* Only the loop uses [head] and [served]. *)
type 'a t = {
  tail : 'a cell Atomic.t;
  mutable head : 'a cell;
  mutable served : int;
}

let create () =
  let head = Atomic.make Empty in
  { tail = Atomic.make head; head; served = 0 }

(* --- Posting -------------------------------------------------------------- *)

type posted = Refused | Posted | Posted_to_sleeper

let[@inline always] append t next full =
  match Atomic.exchange (Atomic.exchange t.tail next) full with
  | Asleep -> Posted_to_sleeper
  | Empty | Full _ | Served -> Posted

let[@poll error] [@inline never] append_only t next full = append t next full

let[@poll error] [@inline never] decide t decision undecided outcome next full =
  if Atomic.compare_and_set decision undecided outcome then append t next full
  else Refused

let post t message =
  let next = Atomic.make Empty in
  append_only t next (Full { message; next })

let decide_and_post t decision outcome message =
  if not (Decision.is_undecided (Decision.outcome decision)) then Refused
  else
    let next = Atomic.make Empty in
    let decision = (decision : _ Decision.t :> _ Atomic.t) in
    decide t decision Decision.undecided outcome next (Full { message; next })

(* None of the next three functions ends with a tail call, and the third one is not a partial
   application. So none of them begins with a polling point. *)
let rec surely wake =
  match wake () with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      surely wake;
      Printexc.raise_with_backtrace e backtrace

let rec resume t wake decision message outcome =
  match decide_and_post t decision outcome (message outcome) with
  | Refused -> false
  | Posted -> true
  | Posted_to_sleeper ->
      surely wake;
      true
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if Sys.opaque_identity (resume t wake decision message outcome) then
        Printexc.raise_with_backtrace e backtrace
      else begin
        Late.keep e backtrace;
        false
      end

let resumer t ~wake decision message =
  Sys.opaque_identity (fun outcome ->
      Sys.opaque_identity (resume t wake decision message outcome))

(* --- Serving -------------------------------------------------------------- *)

let is_empty t =
  match Atomic.get t.head with
  | Empty | Asleep | Served -> true
  | Full _ -> false

(* Once the collector has moved a cell to the old generation, it would also move all messages
   behind that cell, even if they are garbage. So the list of served cells is cut from time to
   time. *)
let cut_every = 64

let leave t cell next =
  t.head <- next;
  t.served <- t.served + 1;
  if t.served land (cut_every - 1) = 0 then Atomic.set cell Served

let served t = t.served

let serve t f =
  let cell = t.head in
  match Atomic.get cell with
  | Empty | Asleep | Served -> false
  | Full { message; next } ->
      f message;
      (* otherwise [f] itself has called [serve] *)
      if t.head == cell then leave t cell next;
      true

(* --- Sleeping ------------------------------------------------------------- *)

let fall_asleep t =
  match Atomic.get t.head with
  | Asleep -> true
  | Empty -> Atomic.compare_and_set t.head Empty Asleep
  | Full _ | Served -> false

let wake_up t =
  if Atomic.get t.head == Asleep then
    ignore (Atomic.compare_and_set t.head Asleep Empty : bool)
