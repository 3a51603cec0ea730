(* [t], the only Atomic here

   State           Left by            To                      By whom
   Empty ts        put, ts = []     * Full (v, [])            any task
                   put, ts = w::_     Empty (ts - w)          any task; it calls w
                   put, ts = w::_     Held (ts, [])           any task (w reads)
                   a waiter           Empty (ts, w)           the task that waits
                   cancelled waiter   Empty (ts - w)          the task that enlisted w
   Full (v, ps)    take, ps = []    * Empty []                any task
                   take, ps = p::_  * Held ([], ps - p)       any task; it calls p
                   swap             * Full (v', ps)           any task
                   modify           * Held ([], ps)           any task
                   a waiter           Full (v, (ps, p))       the task that waits
                   cancelled waiter   Full (v, ps - p)        the task that enlisted p
   Held (ts, ps)   give, ts = []    * Full (v, ps)            the holder
                   give, ts = w::_    Held (ts - w, ps)       the holder; it calls w
                   vacate, ps = []    Empty ts                the holder
                   vacate, ps = p::_  Held (ts, ps - p)       the holder; it calls p
                   waiters              as above: they are enlisted, or withdrawn

   * linearises the operation of the task that does it. An operation that waited
   linearises when its resumer answers [true].

   [Held]: one task has the box in its hands, with or without a value, and is
   obliged to [give] a value or to [vacate] it. It holds the box while it calls
   the resumers that decide what comes next, so that no task overtakes meanwhile,
   or while the function of [modify] runs. The holder changes when a waiter that
   wants to hold is resumed: then the resumed task has the box, and its value.
   Debt: to [give] or to [vacate], step by step, whatever is raised meanwhile.

   A put that was told [true] may return a moment before its value is in the box;
   until then the box is [Held]: a task that takes waits for the value, and one that
   only tries finds nothing. *)

type purpose = Take | Read | Hold

type 'a state =
  | Empty of (purpose, 'a) Waiters.t
  | Full of 'a * ('a, unit) Waiters.t
  | Held of (purpose, 'a) Waiters.t * ('a, unit) Waiters.t

type 'a t = 'a state Atomic.t

let empty = Empty Waiters.empty
let full v = Full (v, Waiters.empty)
let made ?name state = Labels.made ~kind:"mvar" ?name (Atomic.make state)
let create_empty ?name () = made ?name empty
let create ?name v = made ?name (full v)

(* --- For the holder ------------------------------------------------------- *)

type 'a duty =
  | Give of 'a  (** To put the value into the box. *)
  | Vacate  (** There is nothing to put into it. *)
  | Nothing  (** The box is not held any more, or another task is the holder. *)

(* A failed compare-and-set means that a waiter came or withdrew: look again. *)
let rec settle t (debt : _ duty Debt.t) =
  match debt.owed with
  | Nothing -> ()
  | Give v ->
      give_once t debt v;
      settle t debt
  | Vacate ->
      vacate_once t debt;
      settle t debt

and give_once t debt v =
  match Atomic.get t with
  | Held (takers, putters) as before ->
      if Waiters.is_empty takers then begin
        let after = Full (v, putters) in
        if Atomic.compare_and_set t before after then debt.owed <- Nothing
      end
      else
        let w = Waiters.head takers in
        let after = Held (Waiters.tail takers, putters) and outcome = Ok v in
        if Atomic.compare_and_set t before after && Debt.resume debt w outcome
        then
          begin match w.Waiter.arg with
          | Take -> debt.owed <- Vacate
          | Read -> (* [v] is still to be given *) ()
          | Hold ->
              (* the resumed task is the holder now *) debt.owed <- Nothing
          end
  | Empty _ | Full _ -> assert false (* only the holder leaves [Held] *)

and vacate_once t debt =
  match Atomic.get t with
  | Held (takers, putters) as before ->
      if Waiters.is_empty putters then begin
        let after = Empty takers in
        if Atomic.compare_and_set t before after then debt.owed <- Nothing
      end
      else
        let p = Waiters.head putters in
        let after = Held (takers, Waiters.tail putters) in
        let given = Give p.Waiter.arg in
        if Atomic.compare_and_set t before after && Debt.resume debt p (Ok ())
        then debt.owed <- given
  | Empty _ | Full _ -> assert false (* only the holder leaves [Held] *)

let rec give_to_others t v =
  match Debt.owing (Give v) with
  | debt -> Debt.pay settle t debt
  | exception e ->
      (* a signal handler's *)
      give_to_others t v;
      raise e

(* Most often nobody waits. *)
let[@inline] give_to_nobody t v =
  match Atomic.get t with
  | Held (takers, putters) as before ->
      Waiters.is_empty takers
      && Atomic.compare_and_set t before (Full (v, putters))
  | Empty _ | Full _ -> assert false (* only the holder leaves [Held] *)

(* The holder puts [v] into the box, whatever a signal handler raises meanwhile. *)
let give t v =
  match give_to_nobody t v with
  | true -> ()
  | false ->
      give_to_others t v;
      ()
  | exception e ->
      give_to_others t v;
      raise e
