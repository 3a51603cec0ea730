(* Lazy.of_stdlib: several tasks force one of Stdlib's lazy values. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* One of Stdlib's lazy values. Its computation fills [begun] and waits for [gate]. *)
let held f =
  let begun = Promise.create () and gate = Promise.create () in
  let runs = Atomic.make 0 in
  let l =
    lazy
      (Atomic.incr runs;
       Promise.fill begun ();
       Promise.await gate;
       f ())
  in
  (l, begun, gate, runs)

(* Two values are made of the same one of Stdlib's, and tasks of one thread force them. *)
let second f expected () =
  let l, begun, gate, runs = held f in
  let one = Lazy.of_stdlib l and other = Lazy.of_stdlib l in
  let outcome t () =
    match Lazy.force t with v -> Ok v | exception e -> Error e
  in
  let a = Hand.start (outcome one) in
  Promise.await begun;
  let b = Hand.start (outcome other) in
  Hand.settle ();
  yes "it waits" (Hand.waits b);
  Promise.fill gate ();
  Hand.settle ();
  List.iter (fun task -> yes "outcome" (Hand.result task = expected)) [ a; b ];
  yes "remembered" (Lazy.peek other = Some expected);
  int "computed" 1 (Atomic.get runs)

(* The second task waits for the first value. This wait can be cancelled, because only the
   computation is protected. *)
let second_is_cancelled () =
  let l, begun, gate, _ = held (fun () -> 5) in
  let one = Lazy.of_stdlib l and other = Lazy.of_stdlib l in
  let a = Hand.start (fun () -> Lazy.force one) in
  Promise.await begun;
  let b = Hand.start (fun () -> Lazy.force other) in
  Hand.settle ();
  Hand.stop b;
  Hand.settle ();
  no "it continues" (Hand.waits b);
  yes "not remembered" (Lazy.peek other = None);
  Promise.fill gate ();
  Hand.settle ();
  int "the first" 5 (Hand.result a);
  int "again" 5 (Lazy.force other)

let domains () =
  for _ = 1 to 200 do
    let runs = Atomic.make 0 and ready = Atomic.make 0 in
    let l =
      lazy
        (Atomic.incr runs;
         Domain.cpu_relax ();
         7)
    in
    let force () =
      let t = Lazy.of_stdlib l in
      Atomic.incr ready;
      while Atomic.get ready < 2 do
        Domain.cpu_relax ()
      done;
      Lazy.force t
    in
    let other = Domain.spawn force in
    int "here" 7 (force ());
    int "there" 7 (Domain.join other);
    int "computed" 1 (Atomic.get runs)
  done

(* The value needs itself through another value that is made of the same one of Stdlib's. *)
let cycle () =
  let through = ref (fun () -> 0) in
  let l = lazy (!through () + 1) in
  let one = Lazy.of_stdlib l and other = Lazy.of_stdlib l in
  (through := fun () -> Lazy.force other);
  raises "force" Lazy.Undefined (fun () -> Lazy.force one);
  raises "the other" Lazy.Undefined (fun () -> Lazy.force other)

(* Another domain forces the value with Stdlib's function. *)
let outsider f check () =
  let l, begun, gate, runs = held f in
  let t = Lazy.of_stdlib l in
  let other =
    Domain.spawn (fun () ->
        match Stdlib.Lazy.force l with v -> Ok v | exception e -> Error e)
  in
  Promise.await begun;
  raises "meanwhile" Lazy.Being_forced (fun () -> Lazy.force t);
  raises "and again" Lazy.Being_forced (fun () -> Lazy.force t);
  yes "not remembered" (Lazy.peek t = None);
  Promise.fill gate ();
  let outcome = Domain.join other in
  yes "as there"
    (outcome = match Lazy.force t with v -> Ok v | exception e -> Error e);
  check outcome;
  int "computed" 1 (Atomic.get runs)

(* Waiting tasks try one after the other. *)
let outsider_and_waiters () =
  let l, begun, gate, _ = held (fun () -> 5) in
  let other = Domain.spawn (fun () -> Stdlib.Lazy.force l) in
  Promise.await begun;
  let t = Lazy.of_stdlib l in
  let tasks =
    List.init 3 (fun _ ->
        Hand.start (fun () ->
            raises "meanwhile" Lazy.Being_forced (fun () -> Lazy.force t)))
  in
  Hand.settle ();
  List.iter Hand.result tasks;
  Promise.fill gate ();
  int "there" 5 (Domain.join other);
  int "then" 5 (Lazy.force t)

(* In a race, [force] raises either the computation's exception or [Being_forced]. *)
let races () =
  let undefined = Atomic.make 0 in
  for _ = 1 to 300 do
    let ready = Atomic.make 0 in
    let meet () =
      Atomic.incr ready;
      while Atomic.get ready < 2 do
        Domain.cpu_relax ()
      done
    in
    let l = lazy (if Atomic.get ready = 2 then raise Boom else 0) in
    let t = Lazy.of_stdlib l in
    let outside () =
      meet ();
      match Stdlib.Lazy.force l with
      | _ -> ()
      | exception Boom -> ()
      | exception Lazy.Undefined -> Atomic.incr undefined
    in
    let other = Domain.spawn outside in
    meet ();
    (match Lazy.force t with
    | _ -> failwith "a value"
    | exception (Boom | Lazy.Being_forced) -> ());
    Domain.join other;
    raises "in the end" Boom (fun () -> Lazy.force t)
  done

let message () =
  yes "it says what to do"
    (contains
       (Printexc.to_string Lazy.Being_forced)
       "doesn't use Concord.Lazy.of_stdlib. Force it by of_stdlib everywhere")

let () =
  run "Lazy: Stdlib's"
    [
      ( "one value, twice",
        [
          test "the second waits" (second (fun () -> 5) (Ok 5));
          test "for an exception" (second (fun () -> raise Boom) (Error Boom));
          test "the second is cancelled" second_is_cancelled;
          test "two domains" domains;
          test "it needs itself" cycle;
        ] );
      ( "forced outside",
        [
          test "a value" (outsider (fun () -> 5) (fun o -> yes "5" (o = Ok 5)));
          test "an exception"
            (outsider
               (fun () -> raise Boom)
               (fun o -> yes "Boom" (o = Error Boom)));
          test "several tasks" outsider_and_waiters;
          test "races" races;
          test "the message" message;
        ] );
    ]
