(* With CONCORD_SPIN=0 no operation spins, even if there is a second domain. *)

module Spin = Concord__core__Spin

let () =
  Domain.join (Domain.spawn ignore);
  let spin = Spin.create () in
  let fail what =
    prerr_endline (what ^ " spins");
    exit 1
  in
  if Spin.until spin (fun () -> fail "a thread") then fail "a thread";
  if Spin.begin_turns spin > 0 then fail "a task"
