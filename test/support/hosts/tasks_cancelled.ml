(* Scopes, [both] and [all], when they are cancelled from outside, and on a host that can't
   cancel. *)

open Concord
open Concord_test_support
open Check
open Tasks_kit

(* [work waits unwound] waits forever, with tasks that call [waits] and are unwound. *)
let cancelled (host : Cancelling.host) work () =
  host.run @@ fun () ->
  let begun = ref 0 and unwound = ref 0 and over = ref false in
  let waits () =
    incr begun;
    counting unwound never
  in
  let owner () =
    match work waits with
    | () -> Alcotest.fail "not cancelled"
    | exception e ->
        yes "the host's exception" (host.is_cancellation e);
        int "all were unwound before" 2 !unwound;
        over := true
  in
  let cancel = host.fork owner in
  Cancelling.until host "they wait" (fun () -> !begun = 2);
  cancel ();
  Cancelling.until host "it is over" (fun () -> !over)

(* The exception of the host, and no other, counts as a cancellation. *)
let is_known (host : Cancelling.host) () =
  host.run @@ fun () ->
  let waits = ref false and over = ref false in
  let task () =
    match
      waits := true;
      never ()
    with
    | () -> Alcotest.fail "not cancelled"
    | exception e ->
        yes "a cancellation" (Tasks.is_cancellation e);
        over := true
  in
  let cancel = host.fork task in
  Cancelling.until host "it waits" (fun () -> !waits);
  cancel ();
  Cancelling.until host "it is over" (fun () -> !over);
  let others = [ Exit; Not_found; Mailbox.Closed; Workers.Lost; Sys.Break ] in
  no "another exception" (List.exists Tasks.is_cancellation others)

(* What [Scope.cancel] and [Workers] raise is known as well. *)
let are_known () =
  let cancelled =
    Scope.(
      fun () ->
        run (fun scope ->
            cancel scope;
            never ()))
  in
  match cancelled () with
  | () -> Alcotest.fail "not cancelled"
  | exception e ->
      yes "of a scope" (Tasks.is_cancellation e);
      yes "of a job" (Tasks.is_cancellation Workers.Cancelled)

let drop f = ignore (f () : unit list)

let cancellations host =
  let test name work = test name (cancelled host work) in
  [
    test "both is cancelled" (fun waits ->
        ignore (Tasks.both waits waits : unit * unit));
    test "all is cancelled" (fun waits ->
        drop (fun () -> Tasks.all [ waits; waits ]));
    test "its body waits" (fun waits ->
        Scope.run (fun scope ->
            Scope.fork scope waits;
            waits ()));
    test "it waits for its tasks" (fun waits ->
        Scope.run (fun scope ->
            Scope.fork scope waits;
            Scope.fork scope waits));
    test "its body waits for a promise" (fun waits ->
        Scope.run (fun scope ->
            let p = Scope.fork_promise scope waits in
            Scope.fork scope waits;
            Promise.await p));
    test "a task hears of it from a promise first" (fun waits ->
        let task () =
          Scope.run (fun inner ->
              let p = Scope.fork_promise inner waits in
              Scope.fork inner waits;
              Tasks.protect (fun () -> Promise.await p))
        in
        Scope.run (fun outer -> Scope.fork outer task));
    test "in a scope within" (fun waits ->
        Scope.run (fun outer ->
            Scope.fork outer waits;
            Scope.run (fun inner -> Scope.fork inner waits)));
    test "a body that returns what it can" (fun waits ->
        Scope.run (fun scope ->
            Scope.fork scope waits;
            Scope.fork scope waits;
            try never () with _ -> ()));
  ]

(* A task raises while it cleans up after a cancellation. *)
let fails_when_cancelled (host : Cancelling.host) () =
  host.run @@ fun () ->
  let begun = ref false and seen = ref None in
  let owner () =
    match
      Tasks.both
        (fun () ->
          begun := true;
          try never () with _ -> explode ())
        never
    with
    | (_ : unit * unit) -> ()
    | exception e -> seen := Some e
  in
  let cancel = host.fork owner in
  Cancelling.until host "it waits" (fun () -> !begun);
  cancel ();
  Cancelling.until host "it is over" (fun () -> Option.is_some !seen);
  yes "the failure" (!seen = Some Boom)

let from_outside name host =
  ( name ^ ", cancelled from outside",
    test "a task fails while it is unwound" (fails_when_cancelled host)
    :: cancellations host )

(* The host answers [Scopes], can't cancel, and relies on the library. *)
let not_cancelled () =
  let ended = ref 0 and gate = Promise.create () in
  let waits () =
    Promise.await gate;
    incr ended
  in
  Plain_host.run @@ fun () ->
  raises "the failure, when all have ended" Boom (fun () ->
      Tasks.all [ waits; explode; waits; (fun () -> Promise.fill gate ()) ]);
  int "all have" 2 !ended;
  int "cancel does nothing" 3
    (Scope.run (fun scope ->
         let p = Promise.create () in
         Scope.fork scope (fun () -> Promise.fill p 3);
         Scope.cancel scope;
         Promise.await p));
  raises "a failure after that" Boom (fun () ->
      Scope.run (fun scope ->
          Scope.cancel scope;
          explode ()))

let cannot_cancel =
  let host (name, case) = test name (fun () -> Plain_host.run case) in
  ( "a host that cannot cancel",
    test "they are not cancelled" not_cancelled
    :: List.map host
         [
           ("values", Tasks_cases.values);
           ("they begin in order", Tasks_cases.begin_in_order);
           ("tasks meet", Tasks_cases.tasks_meet);
           ("run ends last", Tasks_cases.ends_last);
           ("yield", Tasks_cases.yields);
           ("fork after the end", Tasks_forks.forks_too_late);
         ] )
