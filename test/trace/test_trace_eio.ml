(* Checks how eio-trace shows a fiber that waits in Concord. *)

open Concord
open Concord_test_support

let suspensions = ref 0

let callbacks =
  Eio_runtime_events.add_callbacks
    (fun _ring _time -> function
      | `Suspend_fiber "Concord" -> incr suspensions | _ -> ())
    (Runtime_events.Callbacks.create ())

(* The number of suspensions during [f]. *)
let counted cursor f =
  let read () = ignore (Runtime_events.read_poll cursor callbacks None : int) in
  read ();
  suspensions := 0;
  f ();
  read ();
  !suspensions

let cursor () =
  Runtime_events.start ();
  Runtime_events.create_cursor None

let suspended () =
  let once () =
    Eio_main.run (fun _ ->
        let mvar = Mvar.create_empty () in
        Eio.Fiber.both (fun () -> Mvar.take mvar) (fun () -> Mvar.put mvar ()))
  in
  Check.int "waits" 1 (counted (cursor ()) once)

let longer_than_it_spins () =
  for _ = 1 to 1_000 do
    Eio.Fiber.yield ()
  done

let resumed () =
  let mvar = Mvar.create_empty () in
  Eio.Fiber.both
    (fun () -> Mvar.take mvar)
    (fun () ->
      longer_than_it_spins ();
      Mvar.put mvar ())

let cancelled () =
  let mvar = Mvar.create_empty () in
  Eio.Fiber.first (fun () -> Mvar.take mvar) longer_than_it_spins

(* A fiber that spins is suspended in each of its turns. It spins in vain here, so it spins again
   in the third and the seventh wait, unless another fiber sleeps. *)
let spinning wait () =
  Check.in_domain @@ fun () ->
  let cursor = cursor () in
  let waits _ =
    List.filter (fun _ -> counted cursor wait > 1) (List.init 8 succ)
  in
  let expected =
    if Domain.recommended_domain_count () > 1 then [ 1; 3; 7 ] else []
  in
  Alcotest.(check (list int)) "waits" expected (Eio_main.run waits)

let () =
  Check.run "trace_eio"
    [
      ( "eio",
        [
          Check.test "suspended" suspended;
          Check.test "suspended while it spins" (spinning resumed);
          Check.test "suspended while it spins, cancelled" (spinning cancelled);
        ] );
    ]
