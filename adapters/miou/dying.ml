type t = {
  mutable turn : int;
  mutable last : int;  (** The turn in which a task was last cancelled. *)
  mutable cause : exn * Printexc.raw_backtrace;
  mutable shields : int;
      (** How many shields the effect on its way has passed. While a cancelled
          task is unwound, it is the number of shields around it. *)
}

let never = -1

let create () =
  {
    turn = 0;
    last = never;
    cause = (Not_found, Printexc.get_callstack 0);
    shields = 0;
  }

let turn t = t.turn
let next_turn t = t.turn <- t.turn + 1
let is_on t = t.last = t.turn

let start t e backtrace =
  t.last <- t.turn;
  t.cause <- (e, backtrace)

let cause t = fst t.cause

let raise_cause t =
  let e, backtrace = t.cause in
  Printexc.raise_with_backtrace e backtrace

(* --- Shields ------------------------------------------------------------------ *)

(* Miou has no storage for each task, so the shields of a task are found by an effect. A shield
   is a handler that counts itself when an effect passes it. So after an effect, the count is
   the number of shields around the task that performed it. *)

let is_shielded t = t.shields > 0

(* An effect may be performed on top of another one that is on its way. If it is unhandled, the
   count of the outer one is restored. *)
let performing t f =
  let before = t.shields in
  t.shields <- 0;
  try f ()
  with Effect.Unhandled _ as e ->
    t.shields <- before;
    raise_notrace e

let leave t = if is_on t then t.shields <- t.shields - 1

(* Re-raises without touching the backtrace, which is still that of the function. *)
let leave_by t e =
  leave t;
  raise_notrace e

let count_itself t f =
  let effc (type a) (_ : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    t.shields <- t.shields + 1;
    None
  and retc v =
    leave t;
    v
  in
  Effect.Deep.match_with f () { retc; exnc = leave_by t; effc }

let shielded t f =
  if is_on t then begin
    t.shields <- t.shields + 1;
    match f () with
    | v ->
        leave t;
        v
    | exception e -> leave_by t e
  end
  else count_itself t f
