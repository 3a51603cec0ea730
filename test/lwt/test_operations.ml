(* Every operation in monadic style: whether it waits, which hosts can wake it, and in which
   order. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Lwt.Syntax
open Support

let run = Concord_lwt.run

(* --- Who wakes ------------------------------------------------------------ *)

let thread () = Thread.id (Thread.self ())

(* One case that a job wakes. The code after the wait runs in this thread, and not inside the
   call of [wake]. *)
let wait_and_wake start (name, make) () =
  let lwt = thread () in
  let { Waits.wait; waiters; wake; _ } = make () in
  int (name ^ ": no task waits") 0 (waiters ());
  let p = wait () in
  yes (name ^ ": it waits") (sleeps p);
  int (name ^ ": one waits") 1 (waiters ());
  start wake;
  let+ ok = p in
  int (name ^ ": the thread of the callback") lwt (thread ());
  yes (name ^ ": its value") ok;
  int (name ^ ": no waiter is left") 0 (waiters ())

let by_foreign host () =
  Waking.with_jobs host @@ fun start ->
  run (fun () ->
      Lwt_list.iter_s (fun case -> wait_and_wake start case ()) Cases.monadic)

let by_lwt () =
  let waking = ref false in
  let start wake =
    Lwt.async (fun () ->
        let+ () = Lwt.pause () in
        waking := true;
        wake ();
        waking := false)
  in
  let each case =
    let+ () = wait_and_wake start case () in
    no (fst case ^ ": called inside the wake") !waking
  in
  run (fun () -> Lwt_list.iter_s each Cases.monadic)

(* The same under Lwt's own loop. *)
let by_foreign_in_lwt_main () =
  Waking.with_jobs Check.domain @@ fun start ->
  Lwt_main.run
    (Lwt_list.iter_s (fun case -> wait_and_wake start case ()) Cases.monadic)

(* An operation that doesn't have to wait returns its value at once. *)
let at_once () =
  let each (name, make) =
    let { Waits.wait; wake; waiters; remembers; _ } = make () in
    if remembers then begin
      wake ();
      let p = wait () in
      yes (name ^ ": at once") (Lwt.state p = Lwt.Return true);
      int (name ^ ": no task waits") 0 (waiters ())
    end
  in
  run (fun () ->
      List.iter each Cases.monadic;
      Lwt.return_unit)

(* --- Order ---------------------------------------------------------------- *)

(* The callbacks run in the order of the wakes. *)
let order_of_wakes () =
  let n = 1_000 in
  run @@ fun () ->
  let ps = Array.init n (fun _ -> Promise.create ()) in
  let seen = ref [] in
  let all =
    List.init n (fun i ->
        let+ () = Concord_lwt.Promise.await ps.(i) in
        seen := i :: !seen)
  in
  let join =
    Check.domain (fun () ->
        for i = n - 1 downto 0 do
          Promise.fill ps.(i) ()
        done)
  in
  let+ () = Lwt.join all in
  join ();
  yes "the order of the wakes" (!seen = List.init n Fun.id)

let woken =
  List.map
    (fun (name, host) -> test ("each is woken by " ^ name) (by_foreign host))
    (Waking.starts @ [ ("Domainslib", Waking.by Domainslib_hosts.pool) ])

let () =
  Check.run "Concord_lwt, operations"
    [
      ( "waiting",
        woken
        @ [
            test "each is woken by another task of Lwt" by_lwt;
            test "each, in Lwt_main.run" by_foreign_in_lwt_main;
            test "operations that don't have to wait are performed at once"
              at_once;
          ] );
      ( "order",
        [ test "callbacks are called in the order of the wakes" order_of_wakes ]
      );
    ]
