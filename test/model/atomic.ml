(* What the copied sources take for Stdlib's module. [current] is the process
   that runs: another one may have run before the operation returned. *)

module Traced = Dscheck.TracedAtomic

type 'a t = 'a Traced.t

let current = ref 0

let[@inline never] in_process operation =
  let me = !current in
  let result = operation () in
  current := me;
  result

let make v = in_process (fun () -> Traced.make v)
let get t = in_process (fun () -> Traced.get t)
let set t v = in_process (fun () -> Traced.set t v)
let exchange t v = in_process (fun () -> Traced.exchange t v)

let compare_and_set t before after =
  in_process (fun () -> Traced.compare_and_set t before after)
