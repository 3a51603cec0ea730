(* Wherever a signal handler raises in [force], the value must be settled, or its
   computation passed on. *)

open Concord
open Concord_test_support
open Check

exception Boom

(* Interrupts at all allocations of the library, but not at those of the host. *)
let at_every_allocation = Interrupting.at_every_allocation ~within:"Concord__"

let attempt t =
  match Lazy.force t with
  | (_ : int) -> ()
  | exception (Exit | Boom | Hand.Cancelled) -> ()

(* Checks that the value isn't left as being forced by a task that won't continue. *)
let is_free name t what =
  let task = Hand.start (fun () -> attempt t) in
  Hand.settle ();
  if Hand.waits task then Alcotest.failf "%s is being forced, %s" name what

let disarmed armed f = Fun.protect f ~finally:(fun () -> armed := false)

(* --- One task --------------------------------------------------------------- *)

let alone computation () =
  at_every_allocation @@ fun () ->
  let t = Lazy.from_fun computation in
  let f armed =
    let force () =
      armed := true;
      disarmed armed (fun () -> attempt t)
    in
    ignore (Hand.start force : unit Hand.t)
  in
  (f, is_free "it" t)

(* Runs without a host. *)
let of_stdlib () =
  at_every_allocation @@ fun () ->
  let t = Lazy.of_stdlib (lazy (Sys.opaque_identity 1)) in
  let f armed =
    armed := true;
    disarmed armed (fun () -> attempt t)
  in
  (f, is_free "it" t)

(* --- With other waiters --------------------------------------------------------- *)

(* The first task waits in the computation until [ends]. The other tasks wait for the value. *)
let shared ~ends ~others () =
  at_every_allocation @@ fun () ->
  let gate = Promise.create () in
  let t = Lazy.from_fun (fun () -> Promise.await gate) in
  let first = Hand.start (fun () -> attempt t) in
  let others = others t in
  ends first gate;
  let f armed =
    armed := true;
    disarmed armed Hand.settle
  in
  let check what =
    Hand.settle ();
    (* A cancelled or interrupted task may have passed the computation on. *)
    ignore (Promise.try_fill gate 2 : bool);
    Hand.settle ();
    is_free "it" t what;
    List.iter (fun task -> no ("one waits, " ^ what) (Hand.waits task)) others
  in
  (f, check)

let returns _ gate = Promise.fill gate 1
let fails _ gate = Promise.fail gate Boom
let is_cancelled first _ = Hand.stop first
let nobody _ = []
let forces t () = Hand.start (fun () -> attempt t)
let one t = [ forces t () ]
let several t = List.map (forces t) [ (); (); () ]

let watches t =
  Hand.start (fun () ->
      match Event.sync (Lazy.await_evt t) with
      | (_ : int) -> ()
      | exception (Exit | Boom) -> ())

let also_events t = [ watches t; forces t (); watches t ]

(* The first waiter refuses the computation. *)
let one_is_cancelled t =
  let gone = forces t () in
  let next = forces t () in
  ignore (Hand.cancel gone : bool);
  [ gone; next ]

(* The waiters compute other values that need this one. *)
let within_another t =
  let x = Lazy.from_fun (fun () -> Lazy.force t + 1) in
  let y = Lazy.from_fun (fun () -> Lazy.force x + 1) in
  [ forces y (); forces x (); forces y () ]

let ends =
  [ ("returns", returns); ("fails", fails); ("cancelled", is_cancelled) ]

let others =
  [
    ("one", one);
    ("several", several);
    ("events", also_events);
    ("one that is cancelled", one_is_cancelled);
    ("within another", within_another);
  ]

(* --- Cycles --------------------------------------------------------------------- *)

(* [x] is interrupted where it begins to wait for [t], and continues without it. If [t]
   needs [x] later, this former need must not close a cycle. *)
let needs_no_more () =
  at_every_allocation @@ fun () ->
  let gate = Promise.create () and x_gate = Promise.create () in
  let x = ref (Lazy.from_val 0) in
  let t =
    Lazy.from_fun (fun () ->
        Promise.await gate;
        Lazy.force !x + 1)
  in
  let interrupted = ref false in
  let f armed =
    (x :=
       Lazy.from_fun @@ fun () ->
       armed := true;
       match Lazy.force t with
       | v -> v
       | exception Exit ->
           armed := false;
           interrupted := true;
           Promise.await x_gate);
    let y = Lazy.from_fun (fun () -> Lazy.force !x + 1) in
    ignore (Hand.start (fun () -> Lazy.force t) : int Hand.t);
    ignore (Hand.start (fun () -> Lazy.force y) : int Hand.t);
    armed := false
  in
  let check what =
    Promise.fill gate ();
    Hand.settle ();
    Promise.fill x_gate 1;
    Hand.settle ();
    is_free "t" t what;
    is_free "x" !x what;
    if !interrupted then int what 2 (Lazy.force t)
  in
  (f, check)

(* [x] needs itself through the computations of two tasks. *)
let cycle () =
  at_every_allocation @@ fun () ->
  let gate = Promise.create () in
  let x = ref (Lazy.from_val 0) in
  let survive t =
    match Lazy.force t with v -> v | exception (Lazy.Undefined | Exit) -> 1
  in
  let t =
    Lazy.from_fun (fun () ->
        Promise.await gate;
        survive !x)
  in
  x := Lazy.from_fun (fun () -> survive t);
  let y = Lazy.from_fun (fun () -> survive !x) in
  ignore (Hand.start (fun () -> survive t) : int Hand.t);
  ignore (Hand.start (fun () -> survive y) : int Hand.t);
  Promise.fill gate ();
  let f armed =
    armed := true;
    disarmed armed Hand.settle
  in
  let check what =
    Hand.settle ();
    List.iter2
      (fun name t -> is_free name t what)
      [ "t"; "x"; "y" ] [ t; !x; y ]
  in
  (f, check)

let cases =
  [
    test "the computation returns" (alone (fun () -> 1));
    test "the computation raises" (alone (fun () -> raise Boom));
    test "of_stdlib" of_stdlib;
    test "it is cancelled, and no task waits"
      (shared ~ends:is_cancelled ~others:nobody);
    test "a wait for another one ends" needs_no_more;
    test "a cycle" cycle;
  ]
  @ List.concat_map
      (fun (name, ends) ->
        List.map
          (fun (who, others) ->
            test
              (Printf.sprintf "it %s, who waits: %s" name who)
              (shared ~ends ~others))
          others)
      ends

let () =
  run "Lazy: interrupted"
    [ ("at every allocation", List.concat_map Interrupting.only cases) ]
