type t = { thread : Sleeper.t; is_over : bool }

let of_thread thread = { thread; is_over = false }
let never = of_thread Sleeper.never
let[@inline] is_due t = Sleeper.is_asleep t.thread
let[@inline] is_over t = t.is_over
let outcome = Error Operation.Nudged
let most = 100
let patience_ns = 1_000_000
let of_nudged thread = { thread; is_over = true }
let again t = if t.is_over then t else of_nudged t.thread
let now_ns = Sleeper.now_ns

let may_overtake ~overtaken ~since =
  overtaken < most && now_ns () - since <= patience_ns

type ('t, 'x, 'a) waiting = {
  operation : ('t, 'x, 'a) Operation.t;
  how_again : ('t, 'x, 'a) Operation.how;
  of_arg : 'x -> t;
  with_arg : 'x -> t -> 'x;
  give_up : 't -> 'x -> unit;
}

let operation_again waiting = { waiting.operation with how = waiting.how_again }

(* Unbroken after the wait and the attempt. Otherwise the value would be lost. *)
let rec wait_again waiting t arg =
  let arg = waiting.with_arg arg (again (waiting.of_arg arg)) in
  match Operation.attempt waiting.operation t arg with
  | Some v -> v
  | None -> (
      match Operation.suspend (operation_again waiting) t arg with
      | v -> v
      | exception Operation.Nudged -> wait_again waiting t arg)

let give_up_and_raise waiting t arg e =
  let backtrace = Backtrace.get () in
  waiting.give_up t arg;
  Printexc.raise_with_backtrace e backtrace

(* Unbroken. After an exception it is unknown whether the task was nudged, so the task gives
   up too. *)
let[@inline never] wait_in_thread waiting t arg thread =
  let arg = waiting.with_arg arg (of_thread thread) in
  match Operation.wait waiting.operation t arg with
  | v -> v
  | exception Operation.Nudged -> (
      try wait_again waiting t arg with e -> give_up_and_raise waiting t arg e)
  | exception e -> give_up_and_raise waiting t arg e

let[@inline] wait waiting t arg =
  let thread = Sleeper.mine () in
  if thread == Sleeper.never then Operation.wait waiting.operation t arg
  else wait_in_thread waiting t arg thread
