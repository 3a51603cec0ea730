(* What the copied sources take for Stdlib's module. [current] is the process
   that runs: another one may have run before the operation returned. *)

module Traced = Dscheck.TracedAtomic

type 'a t = 'a Traced.t

let current = ref 0

(* dscheck abandons a process by raising in it, and looks at the atomics later, to
   tell whether a compare-and-set would have succeeded: an exception handler of the
   process must not change them. *)
let abandoned : exn option ref = ref None

let[@inline never] in_process operation =
  Option.iter raise !abandoned;
  let me = !current in
  match operation () with
  | result ->
      current := me;
      result
  | exception e ->
      abandoned := Some e;
      raise e

let make v = in_process (fun () -> Traced.make v)
let get t = in_process (fun () -> Traced.get t)
let set t v = in_process (fun () -> Traced.set t v)
let exchange t v = in_process (fun () -> Traced.exchange t v)

let compare_and_set t before after =
  in_process (fun () -> Traced.compare_and_set t before after)
