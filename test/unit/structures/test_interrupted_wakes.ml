(* Signal handlers that raise, at any moment, in what resumes several tasks, or does more
   after it has resumed one: all of it is done, or nothing. *)

open Concord
open Concord_test_support
open Check

exception Interrupt

(* [make] again and again: what wakes, and what holds after it, whether it was interrupted
   or not. *)
let often make () =
  let count = ref 0 in
  while !count < 500 do
    let calls = ref 0 in
    Interrupting.run ~by:Interrupt ~count (fun () ->
        while !calls < 2_000 do
          incr calls;
          let wake, check = make () in
          match wake () with
          | () -> check ()
          | exception e ->
              check ();
              raise e
        done)
  done

let waits f = ignore (Hand.watch f : bool ref)

(* Alcotest formats in each check, and a handler that raises there is wrapped. *)
let one_of what all v = if not (List.mem v all) then int what (List.hd all) v
let is_full t = if Mvar.try_read t = None then Alcotest.fail "the box is held"

let take () =
  let t = Mvar.create 0 in
  waits (fun () -> Mvar.put t 1);
  waits (fun () -> Mvar.put t 2);
  ( (fun () -> ignore (Mvar.take_available t : int option)),
    fun () ->
      is_full t;
      one_of "who waits to put" [ 1; 2 ] (Mvar.waiters t) )

let put () =
  let t = Mvar.create_empty () in
  waits (fun () -> ignore (Mvar.read t : int));
  waits (fun () -> ignore (Mvar.read t : int));
  waits (fun () -> ignore (Mvar.take t : int));
  waits (fun () -> ignore (Mvar.read t : int));
  ( (fun () -> ignore (Mvar.try_put t 1 : bool)),
    fun () ->
      if Mvar.try_put t 2 then one_of "who waits" [ 0; 1 ] (Mvar.waiters t)
      else Alcotest.fail "the box is held" )

let modify () =
  let t = Mvar.create 0 in
  let f v =
    waits (fun () -> ignore (Mvar.read t : int));
    waits (fun () -> ignore (Mvar.read t : int));
    (v + 1, ())
  in
  ( (fun () -> Mvar.modify t f),
    fun () ->
      is_full t;
      one_of "who waits to read" [ 0 ] (Mvar.waiters t) )

(* Nobody else wants the box. *)
let alone use () =
  let t = Mvar.create 0 in
  ((fun () -> use t), fun () -> is_full t)

let increment v = (v + 1, ())
let modify_alone = alone (fun t -> Mvar.modify t increment)
let modify_evt t = Event.sync (Mvar.modify_evt t increment)

let swap_evt t =
  let swapped = Event.wrap (Mvar.swap_evt t 1) ignore in
  Event.sync swapped

(* From here on, as in a program that is debugged. *)
let kept make () =
  Debug.keep_waits ();
  often make ()

let () =
  let case (what, make) = Interrupting.only (test what (often make)) in
  run "interrupted wakes"
    [
      ( "Mvar",
        List.concat_map case
          [
            ("a take, putters wait", take);
            ("a put, readers and a taker wait", put);
            ("a modification, readers wait", modify);
            ("a modification, as an event", alone modify_evt);
            ("a swap, as an event", alone swap_evt);
          ] );
      ( "Mvar, while waits are kept",
        List.concat_map
          (fun (what, make) -> Interrupting.only (test what (kept make)))
          [
            ("a modification", modify_alone);
            ("a modification, as an event", alone modify_evt);
          ] );
    ]
