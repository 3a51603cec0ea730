(* What the copied sources take for Stdlib's module. [current] is the process
   that runs: another one may have run before the operation returned. *)

module Traced = Dscheck.TracedAtomic

type 'a t = 'a Traced.t

let current = ref 0

(* dscheck numbers the atomics of each run from 1, as it did those that modules made before;
   two of one number are one to it, and each interleaving of them another one to explore.
   So those of modules, which come after this one, get higher numbers than a run needs. *)
let () =
  for _ = 1 to 1_000 do
    ignore (Traced.make () : unit Traced.t)
  done

(* dscheck abandons a process by raising in it, and looks at the atomics later, to
   tell whether a compare-and-set would have succeeded: so the process must not go
   on, whatever it would do about an exception. It performs this instead, which
   [Model] handles by dropping it. *)
type _ Effect.t += Abandoned : 'a Effect.t

let abandoned = ref false

let[@inline never] in_process operation =
  if !abandoned then Effect.perform Abandoned;
  let me = !current in
  match operation () with
  | result ->
      current := me;
      result
  | exception _ ->
      abandoned := true;
      Effect.perform Abandoned

let make v = in_process (fun () -> Traced.make v)
let get t = in_process (fun () -> Traced.get t)
let set t v = in_process (fun () -> Traced.set t v)
let exchange t v = in_process (fun () -> Traced.exchange t v)

let compare_and_set t before after =
  in_process (fun () -> Traced.compare_and_set t before after)

let fetch_and_add t n = in_process (fun () -> Traced.fetch_and_add t n)
