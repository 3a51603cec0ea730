open Concord
open Concord.Tools
open Concord_test_support

let say text =
  print_string (text ^ "\n");
  flush stdout

let expected : (unit -> bool) list Atomic.t = Atomic.make []

let rec expect condition =
  let all = Atomic.get expected in
  if not (Atomic.compare_and_set expected all (condition :: all)) then
    expect condition

let never : unit Promise.t = Debug.named "never" (Promise.create ())

(* The functions don't end in the call that waits, so their frames stay on the stack. *)

let[@inline never] waits (place : _ Operations.place) =
  let v = place.wait 1 in
  Sys.opaque_identity (ignore v)

let[@inline never] chooses event =
  let v =
    Event.select
      [
        event 1;
        Event.wrap (Promise.await_evt never) (fun () -> 0);
        Event.wrap (Event.timeout 3600.) (fun () -> 0);
      ]
  in
  Sys.opaque_identity (ignore v)

let in_all_operations fork =
  let start ({ make; _ } : int Operations.t) =
    let place = make 1 in
    expect (fun () -> place.waiters () > 0);
    fork (fun () -> waits place);
    if Option.is_some place.event then begin
      let place = make 1 in
      expect (fun () -> place.waiters () > 0);
      fork (fun () -> chooses (Option.get place.event))
    end
  in
  List.iter start Operations.all

let[@inline never] in_a_host (host : Test_host.t) ~all () =
  host.run (fun { fork; _ } ->
      if all then in_all_operations fork
      else begin
        let place = (List.hd Operations.all).make 1 in
        expect (fun () -> place.waiters () > 0);
        fork (fun () -> waits place)
      end;
      Promise.await never;
      ());
  ()

let domain host ~all =
  ignore (Domain.spawn (in_a_host host ~all) : unit Domain.t)

let answer () =
  ignore
    (Thread.create
       (fun () ->
         while not (List.for_all (fun f -> f ()) (Atomic.get expected)) do
           Thread.delay 0.001
         done;
         if Array.mem "collect" Sys.argv then Gc.full_major ();
         say "ready";
         try
           while true do
             ignore (read_line () : string);
             List.iter say (Shown.report (Debug.report ()));
             say "end"
           done
         with End_of_file -> exit 0)
       ()
      : Thread.t)
