type 'd t = {
  mutable owed : 'd;
  mutable raised : exn;
  mutable backtrace : Printexc.raw_backtrace;
  mutable tries : int;
}

exception Nothing

let no_backtrace = Printexc.get_callstack 0
let owing owed = { owed; raised = Nothing; backtrace = no_backtrace; tries = 0 }

(* Nothing here is a last call, and [note] allocates outside of OCaml's code only: a signal
   handler would run there. *)

let note debt e =
  if debt.raised == Nothing then begin
    debt.raised <- e;
    debt.backtrace <- Printexc.get_raw_backtrace ()
  end

let[@inline] resume debt w outcome =
  debt.tries <- 0;
  match Waiter.resume w outcome with
  | accepted -> accepted
  | exception e ->
      note debt e;
      true

let raise_noted debt =
  if debt.raised != Nothing then
    Printexc.raise_with_backtrace debt.raised debt.backtrace

(* So many signals do not come within one turn: then it is the function that raises, as where
   the stack is used up, and would do so for ever. *)
let max_tries = 16

let rec go f t debt =
  try f t debt
  with e ->
    note debt e;
    if debt.tries < max_tries then begin
      debt.tries <- debt.tries + 1;
      go f t debt
    end;
    ()

let pay f t debt =
  go f t debt;
  raise_noted debt;
  ()
