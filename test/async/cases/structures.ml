open Concord
open Concord_test_support
open Check
open Wakers
module Monitor = Async.Monitor
module Scheduler = Async.Scheduler

exception Refused

let failure f =
  Deferred.map (Monitor.try_with ~run:`Now ~rest:`Raise f) ~f:(function
    | Ok _ -> Alcotest.fail "it did not fail"
    | Error e -> e)

let fails what expected f =
  let* e = failure f in
  yes what (Monitor.extract_exn e = expected);
  Deferred.return ()

(* --- Failures ------------------------------------------------------------- *)

let closed_before () =
  async @@ fun () ->
  let m = Mailbox.create () in
  Mailbox.close m;
  let not_raised = ref false in
  let* () =
    fails "closed" Mailbox.Closed (fun () ->
        let t : unit Deferred.t = A.Mailbox.take m in
        not_raised := true;
        t)
  in
  yes "the call does not raise" !not_raised;
  Deferred.return ()

let closed_while_waiting () =
  async @@ fun () ->
  let m = Mailbox.create () in
  let failed =
    fails "closed" Mailbox.Closed (fun () ->
        (A.Mailbox.take m : unit Deferred.t))
  in
  let* () = in_domain Concord_fifo.run (fun () -> Mailbox.close m) in
  failed

let[@inline never] refuse () = if Random.bits () >= 0 then raise Refused

(* Of another domain, at the place where it was raised. *)
let backtrace () =
  async @@ fun () ->
  let p : unit Promise.t = Promise.create () in
  let failed = failure (fun () -> A.Promise.await p) in
  let fail () =
    Printexc.record_backtrace true;
    try refuse () with e -> Promise.fail p e
  in
  let* () = in_domain Concord_fifo.run fail in
  let* e = failed in
  let text = Printexc.to_string e in
  let has part =
    let n = String.length part in
    let rec from i =
      i + n <= String.length text && (String.sub text i n = part || from (i + 1))
    in
    from 0
  in
  yes "Refused" (Monitor.extract_exn e = Refused);
  if not (has "refuse") then Alcotest.failf "no place in %s" text;
  Deferred.return ()

let direct_fails () =
  async @@ fun () ->
  let p = Promise.create () in
  let failed =
    fails "direct" Refused (fun () ->
        A.direct (fun () ->
            Promise.await p;
            refuse ()))
  in
  Promise.fill p ();
  let* () = failed in
  fails "at once" Refused (fun () -> A.direct refuse)

let unlocks what f =
  let m = Mutex.create () in
  let* () = fails what Refused (fun () -> A.Mutex.with_lock m f) in
  yes (what ^ ": unlocked") (Mutex.try_lock m);
  Deferred.return ()

let with_lock_fails () =
  async @@ fun () ->
  let* () = unlocks "raises" (fun () -> raise Refused) in
  let* () =
    unlocks "raises later" (fun () ->
        let* () = Scheduler.yield () in
        raise Refused)
  in
  let* () =
    unlocks "in an operation" (fun () ->
        let p = Promise.create () in
        Promise.fail p Refused;
        A.Promise.await p)
  in
  let l = Rwlock.create () in
  let* () =
    fails "write" Refused (fun () -> A.Rwlock.write l (fun () -> raise Refused))
  in
  yes "write: unlocked" (Rwlock.try_write_lock l);
  Deferred.return ()

(* --- The contract of [Suspend] --------------------------------------------- *)

let resumed_once () =
  async @@ fun () ->
  let first = ref false and second = ref true in
  let suspend finish =
    A.direct (fun () ->
        Suspend.suspend (fun resumer ->
            first := resumer (Ok 1);
            second := resumer (Ok 2);
            finish ()))
  in
  let check what t =
    let* () = got 1 t in
    yes (what ^ ": the first") !first;
    no (what ^ ": the second") !second;
    Deferred.return ()
  in
  let* () = check "suspended" (suspend (fun () -> None)) in
  let* () = check "a value" (suspend (fun () -> Some 3)) in
  check "an exception" (suspend (fun () -> raise Refused))

(* --- Order, choices, time ------------------------------------------------- *)

let fifo () =
  async @@ fun () ->
  let m = Mvar.create_empty () and served = ref [] in
  let waiters =
    List.init 10 (fun i ->
        Deferred.map (A.Mvar.take m) ~f:(fun v -> served := (i, v) :: !served))
  in
  let put () =
    for i = 0 to 9 do
      Mvar.put m i
    done
  in
  let* () = in_domain Concord_fifo.run put in
  let* () = Deferred.all_unit waiters in
  yes "order" (List.rev !served = List.init 10 (fun i -> (i, i)));
  Deferred.return ()

let timeout () =
  async @@ fun () ->
  let m : int Mvar.t = Mvar.create_empty () in
  let* v = A.sync_before 0.005 (Mvar.take_evt m) in
  yes "too late" (v = None);
  int "nobody waits" 0 (Mvar.waiters m);
  Deferred.return ()

let dropped () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  let* () =
    Deferred.choose
      [
        Deferred.choice (A.Mvar.take m) ignore;
        Deferred.choice (Scheduler.yield ()) ignore;
      ]
  in
  int "still waits" 1 (Mvar.waiters m);
  Mvar.put m 1;
  yes "and takes" (Mvar.take_available m = None);
  Deferred.return ()

(* --- Execution context ---------------------------------------------------- *)

let key = Core.Univ_map.Key.create ~name:"test" Core.Int.sexp_of_t

let context () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  let look () =
    let context = Scheduler.current_execution_context () in
    ( Async_kernel.Execution_context.monitor context,
      Async_kernel.Execution_context.priority context,
      Scheduler.find_local key )
  in
  let same (monitor, priority, local) (monitor', priority', local') =
    yes "monitor" (monitor == monitor');
    yes "priority" (priority = priority');
    yes "local" (local = local' && local <> None)
  in
  let wait () =
    let before = look () in
    let* () = A.Mvar.take m in
    same before (look ());
    A.direct (fun () ->
        Mvar.take m;
        same before (look ()))
  in
  let waited =
    Scheduler.with_local key (Some 1) ~f:(fun () ->
        Scheduler.within' ~monitor:(Monitor.create ())
          ~priority:Async_kernel.Priority.low wait)
  in
  let put () =
    Mvar.put m ();
    Mvar.put m ()
  in
  let* () = in_domain Concord_fifo.run put in
  waited

(* --- Other threads -------------------------------------------------------- *)

let mine = Domain.self ()
let invalid = function Invalid_argument _ -> true | _ -> false

let refused what f =
  match f () with
  | (_ : _ Deferred.t) -> Some (what ^ ": it did not raise")
  | exception e when invalid e -> None
  | exception e -> Some (what ^ ": " ^ Printexc.to_string e)

let foreign run () =
  let m : unit Mvar.t = Mvar.create_empty () in
  let mutex = Mutex.create () and closed = Mailbox.create () in
  Mailbox.close closed;
  let ended = ref false in
  let complaints =
    run @@ fun () ->
    List.filter_map
      (fun (what, f) -> refused what f)
      [
        ("take", fun () -> A.Mvar.take m);
        ("select", fun () -> A.select [ Mvar.take_evt m ]);
        ( "direct",
          fun () ->
            A.direct (fun () ->
                Fun.protect
                  ~finally:(fun () -> ended := true)
                  (fun () -> Mvar.take m)) );
        ("with_lock", fun () -> A.Mutex.with_lock mutex Deferred.return);
        ( "of_deferred",
          fun () ->
            ignore (A.of_deferred (Deferred.never ()) : unit Promise.t);
            Deferred.return () );
      ]
    @ (match (A.Mailbox.take closed : unit Deferred.t) with
      | _ -> [ "a failure is not raised" ]
      | exception Mailbox.Closed -> []
      | exception e -> [ Printexc.to_string e ])
    @
    match Deferred.peek (A.Mvar.put (Mvar.create_empty ()) ()) with
    | Some () -> []
    | None -> [ "put" ]
  in
  strings "complaints" [] complaints;
  yes "what has to end was ended" !ended;
  int "nobody waits" 0 (Mvar.waiters m);
  yes "unlocked" (Mutex.try_lock mutex)

(* --- Many ----------------------------------------------------------------- *)

(* Where the handlers run. *)
let misplaced = Atomic.make 0

let placed () =
  if Domain.self () <> mine || not (Async.Thread_safe.am_holding_async_lock ())
  then Atomic.incr misplaced

let domains = 4

let burst () =
  Atomic.set misplaced 0;
  async (fun () ->
      let each = 2_500 in
      let woken = ref 0 in
      let promises =
        Array.init domains (fun _ ->
            Array.init each (fun _ -> Promise.create ()))
      in
      let wait p =
        Deferred.map (A.Promise.await p) ~f:(fun () ->
            placed ();
            incr woken)
      in
      let all =
        Array.to_list promises
        |> List.concat_map (fun ps -> List.map wait (Array.to_list ps))
      in
      let fill ps () = Array.iter (fun p -> Promise.fill p ()) ps in
      let* () =
        Deferred.all_unit
          (List.map
             (fun ps -> in_domain Concord_fifo.run (fill ps))
             (Array.to_list promises))
      in
      let* () = Deferred.all_unit all in
      int "woken" (domains * each) !woken;
      Deferred.return ());
  int "handlers elsewhere" 0 (Atomic.get misplaced)

let values take put =
  let each = if Race.long then 250_000 else 25_000 in
  Atomic.set misplaced 0;
  async (fun () ->
      let seen = Bytes.make (domains * each) '0'
      and last = Array.make domains (-1) in
      let rec loop n =
        if n = 0 then Deferred.return ()
        else
          let* v = take () in
          placed ();
          let domain = v / each in
          if Bytes.get seen v <> '0' then Alcotest.failf "%d came twice" v;
          if last.(domain) >= v then Alcotest.failf "%d came late" v;
          Bytes.set seen v '1';
          last.(domain) <- v;
          loop (n - 1)
      in
      let send i () =
        for v = i * each to ((i + 1) * each) - 1 do
          put v
        done
      in
      let* () =
        Deferred.all_unit
          (loop (domains * each)
          :: List.init domains (fun i -> in_domain Concord_fifo.run (send i)))
      in
      no "none lost" (Bytes.contains seen '0');
      Deferred.return ());
  int "handlers elsewhere" 0 (Atomic.get misplaced)

(* After the bytes were read, Async sleeps. *)
let idle () =
  async @@ fun () ->
  let m = Mvar.create_empty () in
  let taken = A.Mvar.take m in
  let* () = in_domain Concord_fifo.run (fun () -> Mvar.put m ()) in
  let* () = taken in
  let before = Scheduler.cycle_count () in
  let* () = Async.Clock.after (Core.Time_float.Span.of_sec 0.05) in
  yes "sleeps" (Scheduler.cycle_count () - before < 100);
  Deferred.return ()

let mailbox_values () =
  let m = Mailbox.create () in
  values (fun () -> A.Mailbox.take m) (Mailbox.put m)

let stream_values () =
  let s = Stream.create 10 in
  values (fun () -> A.Stream.take s) (Stream.add s)

(* --- Promises, lazy values ------------------------------------------------ *)

let of_deferred () =
  async @@ fun () ->
  let ivar = Async.Ivar.create () in
  let p = A.of_deferred (Async.Ivar.read ivar) in
  let got = ref 0 in
  let awaited = in_domain Concord_fifo.run (fun () -> got := Promise.await p) in
  Async.Ivar.fill_exn ivar 7;
  let* () = awaited in
  int "value" 7 !got;
  Deferred.return ()

(* Async computes while another domain waits. *)
let lazy_computed_here () =
  async @@ fun () ->
  let go = Promise.create () and got = Atomic.make 0 in
  let t = Lazy.from_fun (fun () -> Promise.await go) in
  let forced = A.Lazy.force t in
  let other =
    in_domain Concord_fifo.run (fun () -> Atomic.set got (Lazy.force t))
  in
  let rec until_it_waits () =
    if Lazy.waiters t > 0 then Deferred.return ()
    else
      let* () = Scheduler.yield () in
      until_it_waits ()
  in
  let* () = until_it_waits () in
  Promise.fill go 3;
  let* v = forced in
  let* () = other in
  int "here" 3 v;
  int "there" 3 (Atomic.get got);
  Deferred.return ()

(* One value for the tasks of all hosts: those of the wakers, of Lwt and of Async. *)
let lazy_shared () =
  async @@ fun () ->
  let go = Promise.create () and runs = Atomic.make 0 and sum = Atomic.make 0 in
  let t =
    Lazy.from_fun (fun () ->
        Atomic.incr runs;
        Promise.await go)
  in
  let add v = ignore (Atomic.fetch_and_add sum v : int) in
  let lwt () =
    in_thread (fun () ->
        Concord_lwt.(run (fun () -> Lwt.map add (Lazy.force t))))
  in
  let here () = Deferred.map (A.Lazy.force t) ~f:add in
  let direct (name, waker) () =
    if name = "a job of Async" then A.direct (fun () -> add (Lazy.force t))
    else waker (fun () -> add (Lazy.force t))
  in
  let hosts = lwt :: here :: List.map direct wakers in
  let all = List.map (fun force -> force ()) hosts in
  let rec until_they_wait () =
    if Lazy.waiters t + 1 = List.length hosts then Deferred.return ()
    else
      let* () = Scheduler.yield () in
      until_they_wait ()
  in
  let* () = until_they_wait () in
  Promise.fill go 3;
  let* () = Deferred.all_unit all in
  int "runs" 1 (Atomic.get runs);
  int "each has it" (3 * List.length hosts) (Atomic.get sum);
  Deferred.return ()

(* The other way round. *)
let lazy_computed_there () =
  async @@ fun () ->
  let begun = Promise.create () and go = Promise.create () in
  let t =
    Lazy.from_fun (fun () ->
        Promise.fill begun ();
        Promise.await go;
        raise Refused)
  in
  let force () = try Lazy.force t with Refused -> () in
  let other = in_domain (fun f -> Eio_main.run (fun _ -> f ())) force in
  let* () = A.Promise.await begun in
  let failed = fails "lazy" Refused (fun () -> A.Lazy.force t) in
  int "waits" 1 (Lazy.waiters t);
  Promise.fill go ();
  let* () = failed in
  other

let run () =
  run "concord-async"
    (tests @ Jobs.tests @ Flows.tests @ Backtraces.suites @ Scopes.suites
    @ [
        ( "failures",
          [
            test "closed before" closed_before;
            test "closed while it waits" closed_while_waiting;
            test "backtrace" backtrace;
            test "direct" direct_fails;
            test "with_lock unlocks" with_lock_fails;
          ] );
        ( "waiting",
          [
            test "resumed once" resumed_once;
            test "in order" fifo;
            test "timeout" timeout;
            test "dropped by Async's choice" dropped;
            test "execution context" context;
            test "of_deferred" of_deferred;
            test "lazy, computed here" lazy_computed_here;
            test "lazy, computed there" lazy_computed_there;
            test "lazy, shared by all" lazy_shared;
          ] );
        ( "other threads",
          [
            test "another domain" (foreign Check.in_domain);
            test "another thread"
              (foreign (fun f -> async (fun () -> Async.In_thread.run f)));
          ] );
        ( "many",
          [
            test "a burst" burst;
            test "idle after" idle;
            test "values of a mailbox" mailbox_values;
            test "values of a stream" stream_values;
          ] );
      ])
