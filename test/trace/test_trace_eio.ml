(* Checks how eio-trace shows a fiber that waits in Concord. *)

open Concord
open Concord_test_support

let suspensions = ref []

let callbacks =
  Eio_runtime_events.add_callbacks
    (fun _ring _time -> function
      | `Suspend_fiber operation -> suspensions := operation :: !suspensions
      | _ -> ())
    (Runtime_events.Callbacks.create ())

let suspended () =
  Runtime_events.start ();
  let cursor = Runtime_events.create_cursor None in
  Eio_main.run (fun _ ->
      let mvar = Mvar.create_empty () in
      Eio.Fiber.both (fun () -> Mvar.take mvar) (fun () -> Mvar.put mvar ()));
  ignore (Runtime_events.read_poll cursor callbacks None : int);
  Check.int "waits" 1
    (List.length (List.filter (String.equal "Concord") !suspensions))

let () = Check.run "trace_eio" [ ("eio", [ Check.test "suspended" suspended ]) ]
