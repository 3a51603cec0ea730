(* Concord_lwt.call: tasks of every host run code in Lwt's loop. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let the_loop = Concord_lwt.the_loop
let call f = Concord_lwt.call the_loop f

(* Runs Lwt's loop on another domain until [f] has returned. *)
let beside_loop f =
  Concord_lwt.with_domain (fun () -> Lwt.return_unit) (fun _ -> f ())

let hosts =
  [
    Basic_hosts.threads;
    Basic_hosts.fifo;
    Basic_hosts.lazy_fifo;
    Eio_hosts.fibers;
    Domainslib_hosts.pool;
  ]

let on_each hosts f =
  List.map
    (fun (host : Test_host.t) ->
      test host.name (fun () -> beside_loop (fun () -> f host)))
    hosts

exception Boom

let[@inline never] culprit () = if true then raise Boom
let here () = (Domain.self () :> int)

let returns (host : Test_host.t) =
  let loop = call (fun () -> Lwt.return (here ())) in
  let task () =
    let caller = here () in
    let f () =
      let* () = Lwt.pause () in
      Lwt.return (here ())
    in
    let there = call f in
    yes "in the loop's domain" (there = loop && there <> caller)
  in
  Test_host.run_all host [ task; task; task ]

let raises_it (host : Test_host.t) =
  let at_once () = call (fun () -> Lwt.return (culprit ()))
  and later () = call (fun () -> Lwt.map culprit (Lwt.pause ())) in
  host.run (fun _ ->
      raises "at once" Boom at_once;
      raises_at "culprit" at_once;
      raises "later" Boom later;
      raises_at "culprit" later)

(* --- Cancellation ----------------------------------------------------------- *)

let cancelling =
  List.filter (fun (h : Test_host.t) -> Option.is_some h.cancel) hosts

(* Calls [f] in a task that is cancelled when [after ()] has returned. *)
let cancelled (host : Test_host.t) f ~after =
  host.run (fun _ -> (Option.get host.cancel) f ~after)

(* Keeps the loop busy until the result is called. *)
let occupy () =
  let busy = Promise.create () and free = Atomic.make false in
  let job =
    Concord_lwt.post (fun () ->
        Promise.fill busy ();
        eventually ~pause:Domain.cpu_relax "freed" (fun () -> Atomic.get free);
        Lwt.return_unit)
  in
  Promise.await busy;
  fun () ->
    Atomic.set free true;
    Promise.await job

let unbegun host =
  let begun = ref false and waits = Promise.create () in
  let free = occupy () in
  cancelled host
    ~after:(fun () -> Promise.await waits)
    (fun () ->
      Promise.fill waits ();
      match
        call (fun () ->
            begun := true;
            Lwt.return_unit)
      with
      | () -> Alcotest.fail "it returned"
      | exception e ->
          no "it has begun" !begun;
          raise e);
  free ();
  call (fun () -> Lwt.return_unit);
  no "never begun" !begun

(* Checks how a call behaves whose promise is [f never], when its task is cancelled. *)
let cancel_begun host f check =
  let begun = Promise.create () in
  cancelled host
    ~after:(fun () -> Promise.await begun)
    (fun () ->
      check (fun () ->
          call (fun () ->
              Promise.fill begun ();
              f (fst (Lwt.task ())))))

let unwinds host =
  let unwound = ref false in
  cancel_begun host
    (fun never ->
      Lwt.finalize
        (fun () -> never)
        (fun () ->
          let* () = Lwt.pause () in
          let+ () = Lwt.pause () in
          unwound := true))
    (fun call ->
      match call () with
      | () -> Alcotest.fail "it returned"
      | exception e ->
          yes "unwound before" !unwound;
          no "not Lwt's exception" (e = Lwt.Canceled);
          yes "is cancelled" (Tasks.is_cancelled ());
          raise e)

(* The promise ignores the cancellation, or was resolved first. Its value must not be dropped. *)
let keeps_value host =
  let value = ref 0 in
  cancel_begun host
    (fun never ->
      Lwt.catch
        (fun () -> never)
        (fun _ -> Lwt.map (fun () -> 7) (Lwt.pause ())))
    (fun call ->
      value := call ();
      Tasks.yield ();
      Alcotest.fail "it continued");
  int "its value" 7 !value

let keeps_failure host =
  let failed = ref false in
  cancel_begun host
    (fun never ->
      Lwt.catch (fun () -> never) (fun _ -> Lwt.map culprit (Lwt.pause ())))
    (fun call ->
      match call () with
      | () -> Alcotest.fail "it returned"
      | exception Boom ->
          failed := true;
          Tasks.yield ());
  yes "failed" !failed

(* The caller doesn't have to wait for a promise that can't be cancelled. *)
let protected_goes_on host =
  let gate = Promise.create () and went_on = Promise.create () in
  cancel_begun host
    (fun _ ->
      let slow =
        Lwt.map (Promise.fill went_on) (Concord_lwt.Promise.await gate)
      in
      Lwt.protected slow)
    (fun call -> call ());
  no "not yet" (Promise.is_resolved went_on);
  Promise.fill gate ();
  Promise.await went_on

(* A domain puts while the taking task is cancelled. Each item is either taken or still in the
   box. *)
let races host =
  let box = Mvar.create_empty () and kept = Atomic.make 0 and left = ref 0 in
  let rounds = Race.often 50 in
  for _ = 1 to rounds do
    let begun = Promise.create () in
    let putter =
      Check.domain (fun () ->
          Promise.await begun;
          Mvar.put box ())
    in
    cancelled host
      ~after:(fun () -> Promise.await begun)
      (fun () ->
        call (fun () ->
            let taken = Concord_lwt.Mvar.take box in
            Promise.fill begun ();
            taken);
        Atomic.incr kept);
    putter ();
    if Option.is_some (Mvar.try_take box) then incr left
  done;
  int "no item is lost" rounds (Atomic.get kept + !left)

let times_out (host : Test_host.t) =
  let begun = ref false and cancelled = ref false in
  let search () =
    begun := true;
    let never, _ = Lwt.task () in
    Lwt.on_cancel never (fun () -> cancelled := true);
    never
  in
  (* On a busy machine, the loop may not call the function in time. *)
  let rec task seconds =
    match Tasks.with_timeout seconds (fun () -> call search) with
    | None when not !begun -> task (10. *. seconds)
    | None -> yes "the search was cancelled" !cancelled
    | Some () -> Alcotest.fail "it returned"
  in
  host.run (fun _ -> task 0.001)

(* --- Without a loop ---------------------------------------------------------- *)

(* This must come first. Without a loop, nothing can serve a request to cancel. *)
let before_the_first () =
  let called = ref false in
  let f () =
    called := true;
    Lwt.return_unit
  in
  Concord_fifo.run (fun () ->
      let task = Concord_fifo.fork (fun () -> call f) in
      Concord_fifo.cancel task;
      Concord_fifo.join task);
  beside_loop (fun () -> call (fun () -> Lwt.return_unit));
  no "never called" !called

let after_the_end () =
  raises "call" Concord_lwt.No_loop (fun () -> call Lwt.return)

(* --- In the loop itself ------------------------------------------------------- *)

let in_the_loop () =
  Concord_lwt.run @@ fun () ->
  let* () =
    Concord_lwt.direct (fun () ->
        int "direct" 3 (call (fun () -> Lwt.return 3)))
  in
  raises "a callback" Concord_lwt.In_callback (fun () -> call Lwt.return);
  Lwt.return_unit

let () =
  Check.run "Concord_lwt.call"
    [
      ( "without a loop",
        [
          (* must come first *)
          test "cancelled before the first" before_the_first;
          test "after the end" after_the_end;
        ] );
      ("returns", on_each hosts returns);
      ("raises", on_each hosts raises_it);
      ("cancelled before it began", on_each cancelling unbegun);
      ("cancelled", on_each cancelling unwinds);
      ("cancelled, with a value", on_each cancelling keeps_value);
      ("cancelled, and fails", on_each cancelling keeps_failure);
      ("Lwt.protected", on_each cancelling protected_goes_on);
      ("cancelled while it ends", on_each cancelling races);
      ("a timeout", on_each hosts times_out);
      ("in the loop", [ test "direct, and a callback" in_the_loop ]);
    ]
