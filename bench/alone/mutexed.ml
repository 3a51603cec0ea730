(* Measures OCaml 5.5's [Lazy.Mutexed] beside Concord.Lazy, and beside a lazy value behind a
   mutex. A row reads or makes a thousand values, so its microseconds are nanoseconds of one. A
   second domain sleeps, because a program with one domain needs neither. *)

module Mutexed = Lazy.Mutexed

type locked = { mutex : Mutex.t; value : int Lazy.t }

let locked f = { mutex = Mutex.create (); value = Lazy.from_fun f }

let force_locked { mutex; value } =
  Mutex.protect mutex (fun () -> Lazy.force value)

let values = 1_000
let check sum = if sum <> values then failwith "mutexed: a wrong sum"
let one () = Sys.opaque_identity 1

(* Each loop is written out, because a call through a closure would slow it down. *)

let read_concord value () =
  let sum = ref 0 in
  for _ = 1 to values do
    sum := !sum + Concord.Lazy.force (Sys.opaque_identity value)
  done;
  check !sum

let read_mutexed value () =
  let sum = ref 0 in
  for _ = 1 to values do
    sum := !sum + Mutexed.force (Sys.opaque_identity value)
  done;
  check !sum

let read_locked value () =
  let sum = ref 0 in
  for _ = 1 to values do
    sum := !sum + force_locked (Sys.opaque_identity value)
  done;
  check !sum

let first_concord () =
  let sum = ref 0 in
  for _ = 1 to values do
    sum := !sum + Concord.Lazy.(force (Sys.opaque_identity (from_fun one)))
  done;
  check !sum

let first_mutexed () =
  let sum = ref 0 in
  for _ = 1 to values do
    sum := !sum + Mutexed.(force (Sys.opaque_identity (from_fun one)))
  done;
  check !sum

let first_locked () =
  let sum = ref 0 in
  for _ = 1 to values do
    sum := !sum + force_locked (Sys.opaque_identity (locked one))
  done;
  check !sum

let compare_all () =
  let concord = Concord.Lazy.from_fun one
  and mutexed = Mutexed.from_fun one
  and locked = locked one in
  In_turns.measure "a thousand reads of a lazy integer that is forced"
    [
      ("Lazy behind a mutex", read_locked locked);
      ("Lazy.Mutexed", read_mutexed mutexed);
      ("Concord.Lazy", read_concord concord);
    ];
  In_turns.measure "a thousand lazy integers, made and forced"
    [
      ("Lazy behind a mutex", first_locked);
      ("Lazy.Mutexed", first_mutexed);
      ("Concord.Lazy", first_concord);
    ]

let () =
  In_turns.parse "mutexed";
  let ended = Concord.Promise.create () in
  let other = Domain.spawn (fun () -> Concord.Promise.await ended) in
  Fun.protect compare_all ~finally:(fun () ->
      Concord.Promise.fill ended ();
      Domain.join other)
