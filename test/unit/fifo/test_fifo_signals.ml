(* Signal handlers raise in the scheduler's own code, or call its operations. An alarm rings
   all the time, at moments that the test can't choose. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Interrupt
exception Boom

let[@inline never] culprit () = if true then raise Boom else false
let task f = ignore (Fifo.fork f : Fifo.handle)
let this_thread () = Thread.id (Thread.self ())

(* [ring] runs only in the calling thread, because the handler must not raise in others. *)
let with_alarm ring f =
  let me = this_thread () in
  let handler _ = if this_thread () = me then ring () in
  let before = Sys.signal Sys.sigalrm (Signal_handle handler) in
  (* An exception that came too late for a wait is raised by the thread's next one, which may
     belong to the next test. *)
  let restore () =
    ignore (Unix.setitimer ITIMER_REAL { it_interval = 0.; it_value = 0. });
    Sys.set_signal Sys.sigalrm before;
    try Concord__core__Late.raise_kept () with Interrupt -> ()
  in
  Fun.protect ~finally:restore f

let every seconds =
  ignore
    (Unix.setitimer ITIMER_REAL { it_interval = seconds; it_value = seconds })

(* Repeats [round] for a while, and then until it has had enough signals, because a slow
   machine handles few. *)
let rounds enough round =
  let until = Unix.gettimeofday () +. 0.7 in
  let rec go () =
    if Unix.gettimeofday () < until || not (enough ()) then begin
      round ();
      go ()
    end
  in
  go ()

(* --- Exceptions in the scheduler's own code --------------------------------- *)

(* The handler raises only while the scheduler's code runs. An exception in a task's own
   code would be up to that task. [op] is work that the scheduler does for a task. *)
let in_task = ref true
let interrupt () = if not !in_task then raise Interrupt

let scheduler's op =
  in_task := false;
  match op () with
  | v ->
      in_task := true;
      v
  | exception e ->
      in_task := true;
      raise e

type crew = {
  body : (unit -> unit) -> unit -> unit;
      (** Wraps a task's function, and counts its start and its end. *)
  mutable started : int;
  mutable ended : int;
  mutable handles : Fifo.handle list;
}

let new_crew () =
  let rec crew = { body; started = 0; ended = 0; handles = [] }
  and body work () =
    in_task := true;
    crew.started <- crew.started + 1;
    (try work () with Interrupt | Fifo.Cancelled -> ());
    crew.ended <- crew.ended + 1;
    in_task := false
  in
  crew

let fork crew work =
  let handle = scheduler's (fun () -> Fifo.fork (crew.body work)) in
  crew.handles <- handle :: crew.handles

let yield () = scheduler's Fifo.yield

(* Must hold when [run] has ended, wherever it was interrupted. *)
let all_over crew =
  int "all tasks that started have ended" crew.started crew.ended;
  (* [join] would block forever if the task had been abandoned. *)
  List.iter (fun h -> try Fifo.join h with Interrupt -> ()) crew.handles

let storm ?cancellation main () =
  let interrupted = ref 0 in
  let random = Random.State.make [| 5 |] in
  let round () =
    let crew = new_crew () in
    let check = main crew in
    every (5e-5 +. Random.State.float random 3e-4);
    (match
       scheduler's (fun () ->
           Fifo.run ?cancellation (fun () ->
               fork crew (fun () -> check `Work);
               in_task := false))
     with
    | () -> ()
    | exception Interrupt -> incr interrupted);
    every 0.;
    all_over crew;
    check `Over
  in
  with_alarm interrupt (fun () -> rounds (fun () -> !interrupted >= 10) round)

let yielding crew = function
  | `Over -> ()
  | `Work ->
      for _ = 1 to 5 do
        fork crew (fun () ->
            for _ = 1 to 200 do
              yield ()
            done)
      done

(* Tasks wait and are resumed. Each value that a resumer accepted must arrive. *)
let waiting crew =
  let n = 4 in
  let resumers = Array.make n None in
  let live = ref n and accepted = ref 0 and received = ref 0 in
  let resume_all () =
    for i = 0 to n - 1 do
      match resumers.(i) with
      | None -> ()
      | Some resumer ->
          resumers.(i) <- None;
          if resumer (Ok 1) then incr accepted
    done
  in
  let wait i =
    let block resumer =
      resumers.(i) <- Some resumer;
      None
    in
    received := !received + scheduler's (fun () -> Suspend.suspend block)
  in
  let waiter i () =
    Fun.protect
      (fun () ->
        for _ = 1 to 100 do
          wait i
        done)
      ~finally:(fun () -> decr live)
  in
  function
  | `Over ->
      resume_all ();
      int "every accepted value was received" !accepted !received
  | `Work ->
      for i = 0 to n - 1 do
        (* A task that didn't start must not be waited for. *)
        try fork crew (waiter i) with Interrupt -> decr live
      done;
      while !live > 0 do
        resume_all ();
        try yield () with Interrupt -> ()
      done

let forking crew = function
  | `Over -> ()
  | `Work ->
      for _ = 1 to 30 do
        ignore
          (scheduler's (fun () -> Fifo.fork_promise (crew.body yield))
            : unit Promise.t);
        fork crew ignore
      done

(* No task of a scope may outlive the scope. *)
let scopes crew = function
  | `Over -> ()
  | `Work ->
      let live = ref 0 in
      let member () =
        incr live;
        Fun.protect
          (fun () ->
            yield ();
            yield ())
          ~finally:(fun () -> decr live)
      in
      let scope () =
        Fifo.Scope.run @@ fun _ ->
        in_task := true;
        fork crew member;
        fork crew member;
        in_task := false
      in
      for _ = 1 to 20 do
        (try scheduler's scope with Interrupt -> ());
        int "members that live" 0 !live
      done

(* A host's resumer raises in the loop, here at a known moment. *)
let raised_in_the_loop () =
  let joined_elsewhere handle =
    let effc (type a) (e : a Effect.t) :
        ((a, unit) Effect.Deep.continuation -> unit) option =
      match e with
      | Suspend.Suspend block ->
          Some
            (fun k ->
              Option.iter (Effect.Deep.continue k) (block (fun _ -> culprit ())))
      | _ -> None
    in
    Effect.Deep.try_with Fifo.join handle { effc }
  in
  traced [ "first unwound"; "a unwound"; "b unwound" ] @@ fun say ->
  let box = Mvar.create_empty () in
  let wait name () =
    try say (Mvar.take box)
    with Fifo.Cancelled as e ->
      say (name ^ " unwound");
      raise e
  in
  let ended = ref None in
  raises_at "culprit" (fun () ->
      Fifo.run @@ fun () ->
      List.iter (fun name -> task (wait name)) [ "a"; "b" ];
      let handle = Fifo.fork Fifo.yield in
      ended := Some handle;
      joined_elsewhere handle;
      wait "first" ());
  Option.iter Fifo.join !ended;
  Mvar.put box "for a living task";
  yes "no dead task took it" (Mvar.try_take box <> None)

(* --- Exceptions in resumers -------------------------------------------------- *)

(* Runs [main] in a host of one task. A handler can interrupt its resumer before the
   decision, but not after it. The host calls [idle] while the task is suspended. *)
let hosted idle main =
  let open Effect.Deep in
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let outcome = ref (Error Exit) and resumed = ref false in
            let resumer o =
              ignore (Sys.opaque_identity (ref o) : _ ref);
              (not !resumed)
              && begin
                outcome := o;
                resumed := true;
                true
              end
            in
            match block resumer with
            | Some v -> continue k v
            | None -> (
                while not !resumed do
                  idle ()
                done;
                match !outcome with
                | Ok v -> continue k v
                | Error e -> discontinue k e))
    | _ -> None
  in
  try_with main () { effc }

type place = In_a_task | Outside

(* [n] tasks wait again and again. If a resumer raised, it is called again, and then no task
   may wait forever. *)
let resumers place () =
  let n = 300 and interrupted = ref 0 in
  let waiting = Queue.create () in
  let sure op =
    match scheduler's op with
    | v -> v
    | exception Interrupt ->
        incr interrupted;
        op ()
  in
  let resume_one () =
    match Queue.take waiting with
    | `Resume resumer -> ignore (sure (fun () -> resumer (Ok ())) : bool)
    | `Cancel handle -> sure (fun () -> Fifo.cancel handle)
    | exception Queue.Empty -> Alcotest.fail "a task was forgotten"
  in
  let wait () =
    let block resumer =
      Queue.add (`Resume resumer) waiting;
      None
    in
    Suspend.suspend block
  in
  let work live i () =
    for _ = 1 to 5 do
      wait ()
    done;
    if i land 1 = 0 then begin
      Queue.add (`Cancel (Fifo.self ())) waiting;
      match Promise.await (Promise.create ()) with
      | () -> ()
      | exception Fifo.Cancelled -> ()
    end;
    decr live
  in
  let round () =
    let live = ref n in
    let main () =
      Fifo.run @@ fun () ->
      for i = 1 to n do
        task (work live i)
      done;
      if place = In_a_task then
        while !live > 0 do
          while not (Queue.is_empty waiting) do
            resume_one ()
          done;
          Fifo.yield ()
        done
    in
    hosted resume_one main;
    int "tasks that wait forever" 0 !live
  in
  with_alarm interrupt (fun () ->
      every 1e-4;
      rounds (fun () -> !interrupted >= 10) round)

(* --- Operations called by a handler ------------------------------------------- *)

(* The ready queue grows because many tasks are resumed at once. Meanwhile the handler
   resumes others. *)
let resumed_while_it_grows () =
  let n = 20_000 in
  let resumers = Array.make n (fun _ -> false) in
  let next = ref 0 and by_handler = ref 0 in
  let resume_next () =
    let i = !next in
    if i < n then begin
      next := i + 1;
      ignore (resumers.(i) (Ok ()) : bool)
    end
  in
  let ring () =
    incr by_handler;
    resume_next ()
  in
  let round () =
    let resumed = ref 0 in
    Fifo.run (fun () ->
        next := n;
        for i = 0 to n - 1 do
          task (fun () ->
              Suspend.suspend (fun resumer ->
                  resumers.(i) <- resumer;
                  None);
              incr resumed)
        done;
        next := 0;
        while !next < n do
          resume_next ()
        done);
    int "each continues once" n !resumed
  in
  with_alarm ring (fun () ->
      every 1e-4;
      rounds (fun () -> !by_handler >= 100) round)

(* The handler cancels the only task at a moment when the loop may be about to sleep. *)
let cancelled_before_sleeping cancellation () =
  let handle = ref None in
  let ring () = Option.iter Fifo.cancel !handle in
  let random = Random.State.make [| 7 |] in
  let over = Atomic.make false in
  (* OCaml runs no signal handler while all threads wait, so this thread keeps waking up. *)
  let awake () =
    while not (Atomic.get over) do
      Thread.delay 0.001
    done
  in
  let round () =
    Fifo.run ~cancellation (fun () ->
        let wait () = Promise.await (Promise.create ()) in
        let task =
          Fifo.fork (fun () -> try wait () with Fifo.Cancelled -> ())
        in
        handle := Some task;
        let soon = 1e-6 +. Random.State.float random 3e-4 in
        ignore
          (Unix.setitimer ITIMER_REAL { it_interval = 0.; it_value = soon }));
    handle := None
  in
  let before = Sys.signal Sys.sigalrm (Signal_handle (fun _ -> ring ())) in
  Fun.protect
    (fun () ->
      beside awake (fun () ->
          Fun.protect
            (fun () -> rounds (fun () -> true) round)
            ~finally:(fun () -> Atomic.set over true)))
    ~finally:(fun () -> Sys.set_signal Sys.sigalrm before)

(* The handler cancels tasks while the loop unwinds others. *)
let cancelled_while_unwinding cancellation () =
  let n = 4_000 in
  let handles = ref [] and by_handler = ref 0 in
  let cancel_next () =
    match !handles with
    | [] -> ()
    | handle :: rest ->
        handles := rest;
        Fifo.cancel handle
  in
  let ring () =
    incr by_handler;
    cancel_next ()
  in
  let round () =
    let ended = ref 0 in
    let wait () =
      match Promise.await (Promise.create ()) with
      | () -> ()
      | exception Fifo.Cancelled -> incr ended
    in
    Fifo.run ~cancellation (fun () ->
        let tasks () = List.init (n / 2) (fun _ -> Fifo.fork wait) in
        let here = tasks () and by_handler = tasks () in
        handles := by_handler;
        List.iter Fifo.cancel here;
        while !handles <> [] do
          Fifo.yield ();
          cancel_next ()
        done);
    int "all were unwound" n !ended
  in
  with_alarm ring (fun () ->
      every 1e-4;
      rounds (fun () -> !by_handler >= 100) round)

let () =
  run "Fifo and signals"
    [
      ( "an exception in the loop unwinds",
        [ test "all tasks, and run raises it" raised_in_the_loop ]
        @ List.concat_map Interrupting.only
            [
              test "tasks that yield" (storm yielding);
              test "tasks that wait" (storm waiting);
              test "tasks that wait, lazily" (storm ~cancellation:`Lazy waiting);
              test "tasks that fork" (storm forking);
              test "scopes" (storm scopes);
            ] );
      ( "an exception in a resumer",
        [
          test "outside of the scheduler" (resumers Outside);
          test "in a task" (resumers In_a_task);
        ] );
      ( "requests",
        [
          test "tasks are resumed while the ready queue grows"
            resumed_while_it_grows;
          test "eager: a task is cancelled just before the loop sleeps"
            (cancelled_before_sleeping `Eager);
          test "lazy: a task is cancelled just before the loop sleeps"
            (cancelled_before_sleeping `Lazy);
          test "eager: tasks are cancelled while others are unwound"
            (cancelled_while_unwinding `Eager);
          test "lazy: tasks are cancelled while others are unwound"
            (cancelled_while_unwinding `Lazy);
        ] );
    ]
