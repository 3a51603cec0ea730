(* Functions that the scenes of all structures share. *)

open Concord
open Scene
module Moments = Concord_test_support.Moments

let flag b = [ Bool.to_int b ]
let none_or = function None -> [ none ] | Some v -> [ v ]
let nothing _ = []
let rec drain f = match f () with Some v -> v :: drain f | None -> []

(* For operations without a result. *)
let silent f t =
  f t;
  []

(* Stands for the exception of a closed structure or a failed promise. *)
let closed = -2

let or_closed f =
  try f () with Stream.Closed | Channel.Closed | Not_found -> closed

(* --- Waiters -------------------------------------------------------------------- *)

let come f = come (fun () -> or_closed f)

(* A waiter that gets no value. *)
let waits f t =
  come (fun () ->
      f t;
      1)

(* The waiters that came while the function of a bracket, such as [Mutex.protect], ran. *)
let arrived = ref []

let arrive waiting t =
  Moments.unwatched (fun () -> arrived := List.map (fun wait -> wait t) waiting);
  []

(* A waiter that refuses, because its task has chosen another event and hasn't withdrawn it
   yet. *)
let refuses_for event t =
  let other = Promise.create () in
  let finish =
    come (fun () ->
        Event.select
          [ event t; Event.wrap (Promise.await_evt other) (fun () -> 0) ])
  in
  Promise.fill other ();
  finish

let refuses event = refuses_for (fun t -> Event.wrap (event t) (fun () -> 1))

(* --- Scenes ---------------------------------------------------------------------- *)

(* The scene of [perform] on [t], in which [waiting] wait. Its [look] reads [before], lets
   the waiters continue, and reads what is [left]. *)
let around t ?(waiting = []) ?wake ?remembers ?parts ?beside ?(before = nothing)
    ~waiters ~left perform =
  let waiting = List.map (fun wait -> wait t) waiting in
  let look () =
    let before = before t in
    let got = List.map (fun finish -> finish ()) (waiting @ !arrived) in
    let waiters = waiters t in
    (waiters :: before) @ got @ left t
  in
  scene
    (fun () -> perform t)
    ?remembers
    ?parts:(Option.map (List.map (fun part () -> part t)) parts)
    ?wake:(Option.map (fun wake () -> wake t) wake)
    ?beside:(Option.map (fun beside -> visit (fun () -> beside t)) beside)
    ~waiters:(fun () -> waiters t)
    ~look

(* Makes a scene with [make] for each of [operations]. *)
let in_state state make operations =
  List.map
    (fun (name, perform) ->
      let make () =
        arrived := [];
        make perform
      in
      { name = name ^ ", " ^ state; make })
    operations

let as_event name event =
  let name = name ^ "_evt" in
  let after f t = f (Event.wrap (event t) Fun.id) in
  [
    (name ^ ", synced", after Event.sync);
    ( name ^ ", chosen",
      after (fun event -> Event.select [ Event.never; event; Event.never ]) );
    ( name ^ ", polled",
      after (fun event -> Option.value (Event.poll event) ~default:[ none ]) );
    ( name ^ ", before a time",
      after (fun event ->
          Option.value (Event.sync_before 60. event) ~default:[ none ]) );
  ]

let number event t = Event.wrap (event t) (fun v -> [ v ])
let unit event t = Event.wrap (event t) nothing

(* Leaves out polled events, because they would not wait. *)
let unless_polled operations =
  List.filter
    (fun (name, _) -> not (String.ends_with ~suffix:"polled" name))
    operations

exception Boom

let raising f t =
  match f t (fun () -> raise Boom) with v -> v | exception Boom -> []
