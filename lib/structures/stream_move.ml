open Stream_nodes

let full front adders =
  if Waiters.is_empty adders then First front
  else First (Full { front; adders })

(* Only the moving task adds: there is room for the item. *)
let unconditionally _ _ = true

type 'a duty =
  | Move
  | Add of 'a  (** The item of an adder that was resumed. *)
  | Seal
  | Moved

(* A taker has made room while adders waited. It moves their items to the end, also
   those for which other takers make room meanwhile. *)
let rec move t (debt : _ duty Debt.t) =
  match debt.owed with
  | Moved -> ()
  | Move ->
      move_once t debt;
      move t debt
  | Add v ->
      let resume w outcome =
        (* not a last call: the compiler would put a poll before it *)
        Sys.opaque_identity (Debt.resume debt w outcome)
      in
      ignore (add_if unconditionally resume t v : bool);
      debt.owed <- Move;
      move t debt
  | Seal ->
      seal t;
      debt.owed <- Moved

(* A failed compare-and-set: a take, an adder came or withdrew, or closed. *)
and move_once t debt =
  match Atomic.get t.first with
  | First (Moving { front; adders; ended }) as before ->
      if Waiters.is_empty adders then begin
        let after = if ended then First (Shut front) else First front in
        if Atomic.compare_and_set t.first before after then
          debt.owed <- (if ended then Seal else Moved)
      end
      else if last_index t - taken front = t.capacity then begin
        let after = full front adders in
        if Atomic.compare_and_set t.first before after then debt.owed <- Moved
      end
      else
        let w = Waiters.head adders in
        let after = Moving { front; adders = Waiters.tail adders; ended } in
        let item = Add w.Waiter.arg in
        if
          Atomic.compare_and_set t.first before (First after)
          && Debt.resume debt w (Ok ())
        then debt.owed <- item
  | First (Bare _ | Item _ | Full _ | Shut _) ->
      assert false (* only the moving task leaves [Moving] *)
