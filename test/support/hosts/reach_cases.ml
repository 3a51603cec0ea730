(* Tests of [Tasks.is_cancelled] and [Host_kit.probe]. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

(* --- What an effect passes -------------------------------------------------- *)

type reached = { mutable last : Obj.t; mutable seen : string list }

(* Records [name] if the effect in question passes here. *)
let seen_by r name f =
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    if Obj.repr e == r.last then r.seen <- name :: r.seen;
    None
  in
  Effect.Deep.try_with f () { effc }

(* The handlers are in the task, and around the host that runs it. *)
let reaches expected seen place () =
  let r = { last = Obj.repr 0; seen = [] } in
  let passing e =
    r.seen <- [];
    r.last <- Obj.repr e
  in
  let host = ref None in
  seen_by r "outside" (fun () ->
      place (fun () ->
          seen_by r "task" (fun () -> host := Some (Host_kit.probe { passing }))));
  yes "what was reached" (!host = Some expected);
  strings "what the last effect has passed" seen (List.sort compare r.seen)

(* The effect doesn't pass a scheduler, because the scheduler handles it. *)
let suspends place = reaches Suspends [ "task" ] place
let parks place = reaches Parks [ "task" ] place
let parks_here place = reaches Parks [ "outside"; "task" ] place

(* The probe suspends nothing. Other tasks may run or not, but none has to resume the caller. *)
let many_times place () =
  place (fun () ->
      for _ = 1 to 100 do
        let host = Host_kit.probe { passing = ignore } in
        yes "the same" (host = Host_kit.probe { passing = ignore });
        no "cancelled" (Tasks.is_cancelled ())
      done)

(* --- Cancellation ------------------------------------------------------------ *)

let not_cancelled place () =
  place (fun () ->
      no "is_cancelled" (Tasks.is_cancelled ());
      no "in protect" (Tasks.protect Tasks.is_cancelled);
      no "in a computation"
        (Lazy.force (Lazy.from_fun (fun () -> Tasks.is_cancelled ()))))

(* A task is cancelled where it waits, and catches the exception. *)
let where_it_waits (host : Cancelling.host) =
  host.run @@ fun () ->
  let never : unit Promise.t = Promise.create () and ended = ref false in
  let task () =
    no "before" (Tasks.is_cancelled ());
    (try Promise.await never with _ -> ());
    for _ = 1 to 2 do
      yes "is_cancelled" (Tasks.is_cancelled ());
      yes "in a computation"
        (Lazy.force
           (Lazy.from_fun ~cancel:`Record (fun () -> Tasks.is_cancelled ())));
      (match Host_kit.probe { passing = ignore } with
      | Suspends | Parks -> Alcotest.fail "it reached its host"
      | exception e -> yes "the host's exception" (host.is_cancellation e));
      yes "in protect" (Tasks.protect Tasks.is_cancelled <> host.protects)
    done;
    ended := true
  in
  let cancel = host.fork task in
  Cancelling.until host "it waits" (fun () -> Promise.waiters never = 1);
  no "the others are not" (Tasks.is_cancelled ());
  cancel ();
  Cancelling.until host "it has ended" (fun () -> !ended);
  no "the others are not" (Tasks.is_cancelled ())

let in_protect (host : Cancelling.host) =
  host.run @@ fun () ->
  let gate = Promise.create () and ended = ref false in
  let task () =
    Tasks.protect (fun () ->
        Promise.await gate;
        no "in protect" (Tasks.is_cancelled ()));
    yes "after protect" (Tasks.is_cancelled ());
    ended := true
  in
  let cancel = host.fork task in
  Cancelling.until host "it waits" (fun () -> Promise.waiters gate = 1);
  cancel ();
  Promise.fill gate ();
  Cancelling.until host "it has ended" (fun () -> !ended)

let cancelled (host : Cancelling.host) () =
  where_it_waits host;
  if host.protects then in_protect host

(* In a finaliser, the task's handlers can't be reached. *)
let in_finaliser f =
  let ended = ref None in
  let[@inline never] drop () =
    Gc.finalise
      (fun _ ->
        ended := Some (match f () with () -> Ok () | exception e -> Error e))
      (ref 0)
  in
  drop ();
  Gc.full_major ();
  eventually "it ran" (fun () -> !ended <> None);
  match Option.get !ended with Ok () -> () | Error e -> raise e

let place name host_is place =
  [
    test (name ^ ": probe") (host_is place);
    test (name ^ ": suspends nothing") (many_times place);
    test (name ^ ": not cancelled") (not_cancelled place);
  ]

let fiber ~protects =
  let eio f = Eio_main.run (fun _ -> f ()) in
  let fifo f = Concord_fifo.run f in
  place "Eio" suspends eio
  @ place "Fifo in Eio" suspends (fun f -> eio (fun () -> fifo f))
  @ place "Eio in Fifo" suspends (fun f -> fifo (fun () -> eio f))
  @ place "after Eio" parks_here (fun f ->
      eio ignore;
      f ())
  @ [ test "Eio: cancelled" (cancelled (Cancelling.eio ~protects)) ]
