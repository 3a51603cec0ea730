(* A task starts other tasks, on hosts that offer a way to do so. *)

open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Check
open Plugin_cases

module A =
  Foreign.Make
    (struct
      let name = "a"
      let takes_every_effect = false
    end)
    ()

(* A plug-in that offers scopes, and is asked after [A]'s, because it was added later. Its tasks
   only run one after the other. *)
module B = struct
  let is_inside = ref false
  let here () = if not !is_inside then raise_notrace Host_kit.Elsewhere

  let suspend block =
    here ();
    match block (fun _ -> false) with
    | Some v -> v
    | None -> Alcotest.fail "it can't wait"

  let protect f =
    here ();
    f ()

  let scope body =
    body Concord_suspend.{ fork = (fun f -> f ()); cancel = ignore }

  let () =
    Host_kit.plug_in
      {
        name = "b";
        sample = None;
        takes_every_effect = false;
        suspend;
        protect;
        scopes = Some { scope };
      }

  let run f =
    is_inside := true;
    Fun.protect f ~finally:(fun () -> is_inside := false)
end

exception Boom

(* --- Hosts that offer scopes ----------------------------------------------- *)

let says expected place () =
  place (fun () ->
      match (Host_kit.scopes (), expected) with
      | None, false -> ()
      | Some { scope }, true -> scope (fun s -> s.fork ignore)
      | Some _, false -> Alcotest.fail "it offers scopes"
      | None, true -> Alcotest.fail "it offers no scopes")

let within outer place f = outer (fun () -> place f)

let places =
  [
    ("thread", in_thread, false);
    ("domain", in_domain, false);
    ("Fifo", fifo, true);
    ("Eio", eio, true);
    ("Domainslib", pool_task, false);
    ("a plug-in that does not", A.run, false);
    ("a plug-in that does, asked after one that does not", B.run, true);
    ("a handler that does not", mini, false);
    ("Fifo in Eio", within eio fifo, true);
    ("Eio in Fifo", within fifo eio, true);
    ("Domainslib in Eio", within eio pool_task, false);
    ("a plug-in in Fifo", within fifo A.run_registered, false);
    ("a handler in Fifo", within fifo mini, false);
    ("a handler in Eio", within eio mini, false);
    ("Fifo in Fifo", within fifo fifo, true);
    ("Fifo in a handler in Fifo", within fifo (within mini fifo), true);
    ("Fifo in a handler", within mini fifo, true);
    ("Eio in Fifo in Eio", within eio (within fifo eio), true);
  ]

(* --- Tasks in scopes ------------------------------------------------------- *)

let scope f =
  match Host_kit.scopes () with
  | Some { scope } -> scope f
  | None -> Alcotest.fail "the host offers no scopes"

let waits_for_all () =
  let ended = ref 0 in
  let gate = Promise.create () in
  let task () =
    Promise.await gate;
    incr ended
  in
  int "value" 7
    (scope (fun s ->
         s.fork task;
         s.fork task;
         s.fork (fun () -> Promise.fill gate ());
         7));
  int "all have ended" 2 !ended

let waits_although_it_raised () =
  let unwound = ref 0 in
  let task () =
    Fun.protect
      ~finally:(fun () -> incr unwound)
      (fun () -> Event.sync Event.never)
  in
  raises "scope" Boom (fun () ->
      scope (fun s ->
          s.fork task;
          s.fork task;
          raise Boom));
  int "all are unwound" 2 !unwound

let cancelled_by_a_task () =
  let unwound = ref 0 and scope_ = ref None in
  let task () =
    Fun.protect
      ~finally:(fun () -> incr unwound)
      (fun () -> Event.sync Event.never)
  and stop () =
    let s : Suspend.scope = Option.get !scope_ in
    s.cancel ();
    s.cancel ()
  in
  (match
     scope (fun s ->
         scope_ := Some s;
         s.fork task;
         s.fork task;
         s.fork stop)
   with
  | () | (exception _) -> ());
  int "all are unwound" 2 !unwound

let protected_ () = Suspend.protect waits_for_all

let cancelled_from_outside (host : Cancelling.host) () =
  host.run @@ fun () ->
  let begun = ref 0 and unwound = ref [] in
  let wait name () =
    incr begun;
    Fun.protect
      ~finally:(fun () -> unwound := name :: !unwound)
      (fun () -> Event.sync Event.never)
  in
  let owner () =
    match
      scope (fun s ->
          s.fork (wait "a");
          s.fork (wait "b"))
    with
    | () -> Alcotest.fail "not cancelled"
    | exception e ->
        yes "the host's exception" (host.is_cancellation e);
        unwound := "owner" :: !unwound
  in
  let cancel = host.fork owner in
  Cancelling.until host "they wait" (fun () -> !begun = 2);
  cancel ();
  Cancelling.until host "all are unwound" (fun () -> List.length !unwound = 3);
  yes "the owner is the last" (List.hd !unwound = "owner")

let host name place cancelling =
  ( name,
    [
      test "it ends after its tasks" (fun () -> place waits_for_all);
      test "so it does if it raises" (fun () -> place waits_although_it_raised);
      test "a task cancels it" (fun () -> place cancelled_by_a_task);
      test "in protect" (fun () -> place protected_);
      test "its owner is cancelled" (cancelled_from_outside cancelling);
    ] )

let () =
  run "Scopes"
    [
      ( "hosts that offer scopes",
        List.map (fun (name, place, yes) -> test name (says yes place)) places
      );
      host "Fifo" fifo (Cancelling.fifo `Eager);
      host "Fifo, lazy"
        (fun f -> Concord_fifo.run ~cancellation:`Lazy f)
        (Cancelling.fifo `Lazy);
      host "Eio" eio (Cancelling.eio ~protects:true);
      host "Eio in Fifo" (within fifo eio) (Cancelling.eio ~protects:true);
    ]
