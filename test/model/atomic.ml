(* The copied sources use this module in place of Stdlib's. [current] is the running process.
   It is restored after each operation, because another process may have run before the
   operation returned. *)

module Traced = Dscheck.TracedAtomic

type 'a t = 'a Traced.t

let current = ref 0

(* dscheck numbers the atomics of each run from 1, and it numbered those that modules created
   in the same way. Two atomics with the same number are the same one to dscheck, so it would
   explore interleavings that don't matter. The atomics of modules after this one therefore get
   numbers higher than any run needs. *)
let () =
  for _ = 1 to 1_000 do
    ignore (Traced.make () : unit Traced.t)
  done

(* dscheck abandons a process by raising in it. Later it reads the atomics, to find out whether
   a compare-and-set would have succeeded. So an abandoned process must not continue, however
   it handles exceptions. For this reason an operation performs this effect instead of raising,
   and [Model] drops the continuation. *)
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

(* A traced atomic isn't one cell of memory, so nothing can share its cache line. *)
let make_contended = make
let get t = in_process (fun () -> Traced.get t)
let set t v = in_process (fun () -> Traced.set t v)
let exchange t v = in_process (fun () -> Traced.exchange t v)

let compare_and_set t before after =
  in_process (fun () -> Traced.compare_and_set t before after)

let fetch_and_add t n = in_process (fun () -> Traced.fetch_and_add t n)
let incr t = ignore (fetch_and_add t 1 : int)
let decr t = ignore (fetch_and_add t (-1) : int)
