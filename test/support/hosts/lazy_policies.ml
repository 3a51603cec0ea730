(* What happens to a cancelled computation, on every host that can cancel. *)

open Concord
open Concord_test_support
open Check
open Cancelling
open Lazy_held

exception Boom

let restarts_in_order host () =
  traced
    [ "begins"; "a cancelled"; "begins"; "b cancelled"; "begins"; "c=5"; "d=5" ]
  @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held say in
  let fork = forces host x say in
  let cancel_a = fork "a" in
  let cancel_b = fork "b" in
  let (_ : unit -> unit) = fork "c" and (_ : unit -> unit) = fork "d" in
  waiting host x 3;
  cancel_a ();
  has_begun host x 2;
  waiting host x 2;
  cancel_b ();
  has_begun host x 3;
  waiting host x 1;
  yes "not forced" (Lazy.peek x.t = None);
  fill host x 5;
  ended host said 7

let nobody_waits host () =
  traced [ "begins"; "a cancelled"; "still unforced"; "begins"; "b=6" ]
  @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held say in
  let cancel_a = forces host x say "a" in
  has_begun host x 1;
  cancel_a ();
  ended host said 2;
  yes "unforced" (Lazy.peek x.t = None && not (Lazy.is_val x.t));
  host.pause ();
  say "still unforced";
  let (_ : unit -> unit) = forces host x say "b" in
  has_begun host x 2;
  fill host x 6;
  ended host said 5

(* The event survives restarts, and starts no computation. *)
let watchers_stay host () =
  traced [ "begins"; "a cancelled"; "begins"; "b=6"; "event=6" ] @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held say in
  let watch () =
    say (Printf.sprintf "event=%d" (Event.sync (Lazy.await_evt x.t)))
  in
  let before = words x.t in
  let (_ : unit -> unit) = host.fork watch in
  until host "it watches" (fun () -> words x.t > before);
  let cancel_a = forces host x say "a" in
  has_begun host x 1;
  cancel_a ();
  ended host said 2;
  for _ = 1 to 3 do
    host.pause ()
  done;
  int "the watcher begins nothing" 1 (Atomic.get x.runs);
  let (_ : unit -> unit) = forces host x say "b" in
  has_begun host x 2;
  fill host x 6;
  ended host said 5

(* The first two of three waiters are cancelled together with the forcer. *)
let cancelled_waiters_are_skipped order host () =
  let said = ref [] in
  let say s = said := s :: !said in
  ( host.run @@ fun () ->
    let x = held say in
    let cancels = List.map (forces host x say) [ "a"; "b"; "c" ] in
    let (_ : unit -> unit) = forces host x say "d" in
    waiting host x 3;
    List.iter (fun k -> (List.nth cancels k) ()) order;
    has_begun host x 2;
    waiting host x 0;
    fill host x 5;
    until host "all have ended" (fun () -> List.length !said = 6) );
  strings "what happened"
    [ "a cancelled"; "b cancelled"; "begins"; "begins"; "c cancelled"; "d=5" ]
    (List.sort compare !said)

(* The task was chosen to continue the computation, and is cancelled before it does. *)
let told_then_cancelled host () =
  traced [ "begins"; "a cancelled"; "begins"; "b cancelled"; "begins"; "c=5" ]
  @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held say in
  let cancel_b = ref ignore in
  let a () =
    match Lazy.force x.t with
    | (_ : int) -> say "a has a value"
    | exception _ ->
        say "a cancelled";
        !cancel_b ()
  in
  let cancel_a = host.fork a in
  cancel_b := forces host x say "b";
  let (_ : unit -> unit) = forces host x say "c" in
  waiting host x 2;
  cancel_a ();
  has_begun host x 3;
  fill host x 5;
  ended host said 6

let waiter_cancelled host () =
  traced [ "begins"; "b cancelled"; "a=5"; "c=5" ] @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held say in
  let (_ : unit -> unit) = forces host x say "a" in
  let cancel_b = forces host x say "b" in
  let (_ : unit -> unit) = forces host x say "c" in
  waiting host x 2;
  cancel_b ();
  ended host said 2;
  waiting host x 1;
  fill host x 5;
  ended host said 4

let boom await =
  ignore (await () : int);
  raise Boom

let failure_is_recorded host () =
  let boom_of name = name ^ ": " ^ Printexc.to_string Boom in
  traced ("begins" :: List.map boom_of [ "a"; "b"; "late" ]) @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held ~after:boom say in
  let (_ : unit -> unit) = forces host x say "a" in
  let (_ : unit -> unit) = forces host x say "b" in
  waiting host x 1;
  fill host x 0;
  ended host said 3;
  yes "recorded" (Lazy.peek x.t = Some (Error Boom));
  let (_ : unit -> unit) = forces host x say "late" in
  ended host said 4

(* In a cancelled task, any exception restarts the computation. *)
let unrelated_exception host () =
  traced [ "begins"; "a: " ^ Printexc.to_string Boom; "begins"; "b=3" ]
  @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held ~after:(fun await -> try await () with _ -> raise Boom) say in
  let cancel_a = forces host x say "a" in
  let (_ : unit -> unit) = forces host x say "b" in
  waiting host x 1;
  cancel_a ();
  has_begun host x 2;
  fill host x 3;
  ended host said 4

(* The task isn't cancelled, so the exception counts like any other. *)
let cancellation_of_another host () =
  host.run @@ fun () ->
  let raised = ref None in
  let cancel =
    host.fork (fun () ->
        try Promise.await (Promise.create ()) with e -> raised := Some e)
  in
  cancel ();
  until host "cancelled" (fun () -> !raised <> None);
  let e = Option.get !raised in
  let t = Lazy.from_fun (fun () -> raise e) in
  let ended = ref false in
  let (_ : unit -> unit) =
    host.fork (fun () ->
        (try Lazy.force t with _ -> ());
        ended := true)
  in
  until host "it has ended" (fun () -> !ended);
  yes "recorded" (Lazy.peek t = Some (Error e))

let is_recorded host x =
  match Lazy.peek x.t with
  | Some (Error e) -> host.is_cancellation e
  | Some (Ok _) | None -> false

let recorded cancel host () =
  traced [ "begins"; "a cancelled"; "b cancelled"; "late cancelled" ]
  @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held ~cancel say in
  let cancel_a = forces host x say "a" in
  let (_ : unit -> unit) = forces host x say "b" in
  waiting host x 1;
  cancel_a ();
  ended host said 3;
  yes "recorded" (is_recorded host x);
  let (_ : unit -> unit) = forces host x say "late" in
  ended host said 4

let protected host () =
  traced [ "begins"; "a=4"; "b=4" ] @@ fun say ->
  counted say @@ fun said say ->
  host.run @@ fun () ->
  let x = held ~cancel:`Protect say and refused = ref false in
  let a () =
    say (Printf.sprintf "a=%d" (Lazy.force x.t));
    try Promise.await (Promise.create ()) with _ -> refused := true
  in
  let cancel_a = host.fork a in
  let (_ : unit -> unit) = forces host x say "b" in
  waiting host x 1;
  cancel_a ();
  host.pause ();
  int "not delivered" 1 (Promise.waiters x.gate);
  fill host x 4;
  ended host said 3;
  until host "afterwards it is" (fun () -> !refused)

(* The next task to compute is a domain that runs no scheduler. *)
let restarts_elsewhere host () =
  let where = Atomic.make (Domain.self ()) in
  let note await =
    Atomic.set where (Domain.self ());
    await ()
  in
  host.run @@ fun () ->
  let x = held ~after:note ignore in
  let cancel_a = forces host x ignore "a" in
  has_begun host x 1;
  let domain = Domain.spawn (fun () -> (Lazy.force x.t, Domain.self ())) in
  waiting host x 1;
  cancel_a ();
  has_begun host x 2;
  fill host x 8;
  let v, there = Domain.join domain in
  int "value" 8 v;
  yes "computed there" (Atomic.get where = there)

(* [runs_meanwhile] is whether a cancellation lets other tasks run. One of them may be a task
   that was chosen to compute, before it is cancelled itself. *)
let suite ?(runs_meanwhile = false) name host =
  let skip order = cancelled_waiters_are_skipped order host in
  ( name,
    [
      test "the waiters restart it, in order" (restarts_in_order host);
      test "no task waits, so the next one restarts it" (nobody_waits host);
      test "events stay" (watchers_stay host);
      test "c, b and a are cancelled" (skip [ 2; 1; 0 ]);
      test "chosen to continue, then cancelled" (told_then_cancelled host);
      test "a waiter is cancelled" (waiter_cancelled host);
      test "a failure is recorded" (failure_is_recorded host);
      test "cancelled, it raises something else" (unrelated_exception host);
      test "the cancellation of another task" (cancellation_of_another host);
      test "restarted in another domain" (restarts_elsewhere host);
      test "`Record" (recorded `Record host);
      (if host.protects then test "`Protect" (protected host)
       else test "`Protect is `Record" (recorded `Protect host));
    ]
    @
    if runs_meanwhile then []
    else [ test "a, b and c are cancelled" (skip [ 0; 1; 2 ]) ] )
