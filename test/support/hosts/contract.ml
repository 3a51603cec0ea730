(* The contract of [Suspend], in every host. *)

open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom

let some_v () =
  let calls = ref 0 in
  int "value" 7
    (Suspend.suspend (fun _ ->
         incr calls;
         Some 7));
  int "block was called once" 1 !calls

let block_raises () =
  let calls = ref 0 in
  let f () =
    Suspend.suspend (fun _ ->
        incr calls;
        culprit ();
        None)
  in
  raises "suspend" Boom f;
  int "block was called once" 1 !calls

let resumed_inside_block () =
  let f outcome =
    Suspend.suspend (fun resume ->
        yes "the first resumption" (resume outcome);
        no "the second" (resume (Ok 9));
        None)
  in
  int "value" 8 (f (Ok 8));
  raises "exception" Boom (fun () -> f (Error Boom))

(* Against S1: the resumption that was told [true] keeps its promise. *)
let resumed_and_some () =
  int "the promised value" 1
    (Suspend.suspend (fun resume ->
         yes "resumed" (resume (Ok 1));
         Some 2));
  int "the promised value" 1
    (Suspend.suspend (fun resume ->
         yes "resumed" (resume (Ok 1));
         raise Boom))

let late_resumer () =
  let kept = ref (fun _ -> true) in
  int "value" 1
    (Suspend.suspend (fun resume ->
         kept := resume;
         Some 1));
  no "after Some v" (!kept (Ok 2));
  raises "suspend" Boom (fun () ->
      Suspend.suspend (fun resume ->
          kept := resume;
          raise Boom));
  no "after an exception" (!kept (Ok 2))

(* Two domains call the resumer: one of them wins, and its value arrives. *)
let from_two_domains () =
  let resumers = Mvar.create_empty () in
  let attempt v () = if (Mvar.read resumers) (Ok v) then v else 0 in
  let a = Domain.spawn (attempt 1) and b = Domain.spawn (attempt 2) in
  let calls = ref 0 in
  let v =
    Suspend.suspend (fun resume ->
        incr calls;
        Mvar.put resumers resume;
        None)
  in
  let told_a = Domain.join a and told_b = Domain.join b in
  int "who was told true" v (told_a + told_b);
  int "block was called once" 1 !calls

(* A resumer for each of many waits, called twice from another domain. *)
let many_waits () =
  let n = 500 in
  let resumers = Mvar.create_empty () and told = Atomic.make 0 in
  let domain =
    Domain.spawn (fun () ->
        for i = 1 to n do
          let resume = Mvar.take resumers in
          if resume (Ok i) then Atomic.incr told;
          if resume (Ok 0) then Atomic.incr told
        done)
  in
  for i = 1 to n do
    int "in turn" i
      (Suspend.suspend (fun resume ->
           Mvar.put resumers resume;
           None))
  done;
  Domain.join domain;
  int "once each" n (Atomic.get told)

let protected () =
  int "value" 3 (Suspend.protect (fun () -> Suspend.suspend (fun _ -> Some 3)));
  raises "exception" Boom (fun () -> Suspend.protect culprit)

let contract name place =
  let case what f = test what (fun () -> place f) in
  ( name,
    [
      case "Some v continues with v" some_v;
      case "block raises: the task continues with it" block_raises;
      case "a resumer inside block: true, then false" resumed_inside_block;
      case "a resumer that said true wins over block" resumed_and_some;
      case "a resumer after the end of the wait: false" late_resumer;
      case "two domains resume: one wins" from_two_domains;
      case "500 waits, two resumptions each" many_waits;
      case "protect gives the value, or the exception" protected;
    ] )
