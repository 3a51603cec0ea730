(* After a hundred rounds, the heap returns to the same level. The rounds consist of one
   operation, or of tasks that do everything. *)

open Concord
open Concord_test_support
module Fifo = Concord_fifo

(* --- Each operation ------------------------------------------------------------ *)

let served_at_once (service : Operations.service) =
  match service with Takes | Gives -> 1 | Shares | Passes | Meets -> 20

(* Twenty tasks are cancelled, twenty choose another alternative, and twenty are served. *)
let waits (operation : int Operations.t) () =
  let place = operation.make 100 in
  let start i = Hand.start (fun () -> ignore (place.wait (i + 1) : int)) in
  let cancelled = List.init 20 start in
  List.iter Hand.unwind cancelled;
  let otherwise = Promise.create () in
  Option.iter
    (fun event ->
      for i = 1 to 20 do
        let wait () =
          Event.select
            [ Event.wrap (event i) ignore; Promise.await_evt otherwise ]
        in
        ignore (Hand.start wait : unit Hand.t)
      done)
    place.event;
  Promise.fill otherwise ();
  Hand.settle ();
  let served = List.init 20 start in
  for _ = 1 to 20 / served_at_once operation.service do
    ignore (place.wake () : int);
    Hand.settle ()
  done;
  List.iter Hand.result served;
  ignore (place.left () : int list)

let operation (it : int Operations.t) = Level.test it.name (waits it)

(* --- Tasks ----------------------------------------------------------------------- *)

let in_thread () = Check.in_thread Round.run
let in_domain () = Check.in_domain Round.run
let in_fifo () = Fifo.run Round.run
let in_lazy_fifo () = Fifo.run ~cancellation:`Lazy Round.run
let elsewhere () = Check.in_domain (fun () -> Fifo.run Round.run)

(* --- Styles ------------------------------------------------------------------------ *)

let style spawn start () =
  spawn Round.run;
  start ()

let styles =
  let open Concord_styles in
  [
    ("threads", style Threads.spawn Threads.start);
    ("callcc", style Callcc.spawn Callcc.start);
    ("delimited", style Delimited.spawn Delimited.start);
    ( "trampoline",
      style
        (fun f -> Trampoline.(spawn (fun () -> direct f ignore)))
        Trampoline.start );
    ( "continuation",
      style
        (fun f -> Continuation.(spawn (fun () -> direct f)))
        Continuation.start );
    ( "promise",
      style
        (fun f -> Concord_styles.Promise.(spawn (fun () -> direct f)))
        Concord_styles.Promise.start );
    ( "events",
      style (fun f -> Events.(spawn (fun () -> direct f ignore))) Events.start
    );
  ]

(* A scope asks its host by an effect how tasks are started. No style handles that effect,
   and in bytecode an unhandled effect corrupts the heap (ocaml/ocaml#14644). *)
let style_cases =
  if Sys.backend_type = Native then
    List.concat_map (fun (name, round) -> Level.test name round) styles
  else []

let () =
  Check.run "The heap after 100 rounds"
    [
      ("operations", List.concat_map operation Operations.all);
      ( "tasks",
        List.concat
          [
            Level.test "a thread" in_thread;
            Level.test "a domain" in_domain;
            Level.test "Fifo" in_fifo;
            Level.test "Fifo, lazy" in_lazy_fifo;
            Level.test "Fifo on another domain" elsewhere;
          ] );
      ("styles", style_cases);
      ( "shared structures",
        [
          Check.test "no task waits" (fun () ->
              Check.yes "no task waits" (Round.nobody_waits ()));
        ] );
    ]
