(* The states of [t], which is the only Atomic here

   State      Left by  To          By whom
   undecided  decide   an outcome  a resumer's caller, or the host, which cancels, or
                                   whose [block] returned a value or raised
   an outcome never (terminal)

   [decide] linearises at its compare-and-set. Debt: the thread that installs the outcome makes
   the task ready, once. *)
type 'a t = ('a, exn) result Atomic.t

(* [undecided] is recognised by its address. No outcome is the same block, even if it holds
   this exception. *)
exception Undecided

let undecided = Error Undecided
let[@inline] is_undecided outcome = outcome == undecided
let[@inline] create () = Atomic.make undecided
let[@inline] decide t outcome = Atomic.compare_and_set t undecided outcome
let[@inline] outcome t = Atomic.get t

(* The recursive call must not be a tail call. Otherwise the compiler would put a poll before
   it, where the exception handler no longer covers it. *)
let rec insist prepare resumer outcome =
  match prepare outcome with
  | prepared -> Sys.opaque_identity (resumer prepared)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if Sys.opaque_identity (insist prepare resumer outcome) then
        Printexc.raise_with_backtrace e backtrace
      else begin
        Late.keep e backtrace;
        false
      end

(* If [block] registered the resumer and also returned a value, it broke S1. If the resumer was
   called, its caller was promised that the task gets that outcome. *)
let[@inline] if_first t outcome =
  if decide t outcome then outcome else undecided

let[@inline] offer t resumer block =
  match block resumer with
  | None -> undecided
  | Some v -> if_first t (Ok v)
  | exception e -> if_first t (Error e)
