(* Reports must be true for hosts that don't answer, for waits that are over, and while
   other waits begin and end. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Effect.Deep
open Kept

(* --- A host that handles [Suspend] and nothing else ------------------------ *)

let bare_task ready f =
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let resumed = ref false in
            let resumer outcome =
              (not !resumed)
              && begin
                resumed := true;
                Queue.push
                  (fun () ->
                    match outcome with
                    | Ok v -> continue k v
                    | Error e -> discontinue k e)
                  ready;
                true
              end
            in
            match block resumer with
            | Some v -> ignore (resumer (Ok v) : bool)
            | None -> ()
            | exception e -> ignore (resumer (Error e) : bool))
    | _ -> None
  in
  match_with f () { retc = Fun.id; exnc = raise; effc }

let bare fs =
  let ready = Queue.create () in
  List.iter (bare_task ready) fs;
  while not (Queue.is_empty ready) do
    Queue.pop ready ()
  done

(* The task may have a name, because one that takes a lock within a function is known during
   that function. *)
let unknown what (wait : Debug.wait) =
  let who = wait.task.host ^ ", " ^ wait.task.name in
  yes
    (Printf.sprintf "%s: %s" what who)
    (who = "a scheduler, a task"
    || String.starts_with ~prefix:"a scheduler, a task, the holder" who)

(* Both tasks belong to the bare scheduler, which runs in one task of Fifo. The report must
   not take them for that task, which would look like a cycle. *)
let in_a_bare_host () =
  let mutex = Mutex.create () and go_on = Promise.create () in
  let name = named mutex and seen = ref false in
  bare
    [
      (fun () ->
        Mutex.lock mutex;
        Promise.await go_on;
        Mutex.unlock mutex);
      (fun () -> Mutex.protect mutex ignore);
      (fun () ->
        let tasks = observer Concord.Tasks.yield in
        unknown "the waiter" (the_one tasks name);
        int "no cycle" 0 (List.length (cycles ()));
        seen := true;
        Promise.fill go_on ());
    ];
  yes "seen" !seen;
  int "no task waits" 0 (List.length (waits_in name))

(* --- After a resumer has answered -------------------------------------------- *)

let minor_words = [| 0. |]

let words_after resumer =
  let answer = resumer (Ok ()) in
  let words = Gc.minor_words () -. minor_words.(0) in
  yes "the answer" answer;
  words

(* Checks that the watched resumer allocates nothing after its answer. A signal handler can
   raise only at an allocation, so it can't lose the answer. *)
let nothing_after_the_answer () =
  let resumer (_ : (unit, exn) result) =
    minor_words.(0) <- Gc.minor_words ();
    true
  in
  let watched = ref nan in
  Concord__diagnosis.Waits.during
    ~who:(Concord__core__Who_is.this_thread ())
    []
    (fun block -> ignore (block resumer : unit option))
    (fun resumer ->
      watched := words_after resumer;
      None);
  Alcotest.(check (float 0.)) "words" (words_after resumer) !watched

let in_fifo f () = Concord_fifo.run f

(* The task was cancelled, and its host doesn't handle [Protect]. *)
let in_a_cancelled_task () =
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | Suspend.Suspend _ -> Some (fun k -> discontinue k Exit)
    | _ -> None
  in
  let mutex = Mutex.create () in
  try_with
    (fun () ->
      let who = Concord__diagnosis.Identify.task () in
      Alcotest.(check string) "host" "a scheduler" who.host;
      (* Operations that need not wait still succeed. *)
      Mutex.lock mutex;
      Mutex.unlock mutex;
      raises "a wait" Exit (fun () ->
          Mvar.take (Mvar.create_empty () : unit Mvar.t)))
    () { effc };
  int "no task waits" 0 (List.length (waits ()))

(* --- Operations without a stack ---------------------------------------------- *)

let indirect name spawn start take put () =
  let mvar = Mvar.create_empty () in
  let in_mvar = named mvar and taken = ref false in
  spawn (fun () -> take mvar (fun () -> taken := true));
  spawn (fun () ->
      (match waits_in in_mvar with
      | [ wait ] ->
          Alcotest.(check string)
            "host" ("Concord_styles." ^ name) wait.task.host;
          Alcotest.(check string) "name" "an operation" wait.task.name;
          strings "operation" [ "Mvar.take" ] (operations wait)
      | waits -> int "one waits" 1 (List.length waits));
      put mvar);
  start ();
  yes "taken" !taken;
  int "it is not listed" 0 (List.length (waits_in in_mvar))

let stopped () =
  let open Concord_styles.Trampoline in
  let mvar = Mvar.create_empty () in
  let name = named mvar in
  spawn (fun () -> take_mvar mvar >>= ignore);
  spawn (fun () ->
      int "it waits" 1 (List.length (waits_in name));
      stop ());
  start ();
  int "it is not listed" 0 (List.length (waits_in name));
  no "it takes nothing" (Mvar.try_put mvar () && Mvar.try_take mvar = None)

(* --- Signal handlers that raise ----------------------------------------------- *)

exception Interrupt

(* Each [round] must end by itself, because some of the handler's exceptions don't come out. *)
let interrupted round () =
  let count = ref 0 and until = Unix.gettimeofday () +. 1. in
  Interrupting.run ~by:Interrupt ~count (fun () ->
      while Unix.gettimeofday () < until do
        round ()
      done);
  int "no task waits" 0 (List.length (waits ()));
  int "no task is ready" 0 (List.length (Concord__diagnosis.Waits.resumed ()));
  yes (Printf.sprintf "%d interruptions" !count) (!count > 0)

let never () : unit Mvar.t = Mvar.create_empty ()

(* Another domain puts the items, and puts another one after each that was lost. *)
let a_thread_waits () =
  let box = Mvar.create_empty () and over = Atomic.make false in
  let join =
    Check.domain (fun () ->
        while not (Atomic.get over) do
          if not (Mvar.try_put box ()) then Domain.cpu_relax ()
        done)
  in
  Fun.protect
    (interrupted (fun () ->
         ignore
           (Event.select [ Mvar.take_evt box; Mvar.take_evt (never ()) ] : unit)))
    ~finally:(fun () ->
      Atomic.set over true;
      join ())

let tasks_wait_in_vain () =
  let unless_cancelled f () = try f () with Concord_fifo.Cancelled -> () in
  let take = unless_cancelled (fun () -> Mvar.take (never ())) in
  Concord_fifo.run (fun () ->
      let scope =
        unless_cancelled (fun () ->
            Concord_fifo.Scope.run (fun _ ->
                ignore (Concord_fifo.fork take : Concord_fifo.handle)))
      in
      let tasks = List.map Concord_fifo.fork [ take; take; scope ] in
      for _ = 1 to 3 do
        Concord_fifo.yield ()
      done;
      List.iter Concord_fifo.cancel tasks)

(* --- Other domains --------------------------------------------------------------- *)

let storm () =
  let there = Mvar.create_empty () in
  let name = named there in
  let a = Mvar.create_empty () and b = Mvar.create_empty () in
  let rounds = 3_000 in
  let put () =
    for i = 1 to rounds do
      Mvar.put (if i land 1 = 0 then a else b) i
    done
  and take () =
    Concord_fifo.run (fun () ->
        for _ = 1 to rounds do
          ignore (Event.select [ Mvar.take_evt a; Mvar.take_evt b ] : int)
        done)
  in
  let stays = Check.thread (fun () -> Mvar.take there) in
  let tasks = observer Thread.yield in
  let before = the_one tasks name in
  let over = Atomic.make 0 in
  let in_domain f =
    Check.domain (fun () ->
        f ();
        Atomic.incr over)
  in
  let joins = List.map in_domain [ put; take; put; take ] in
  while Atomic.get over < 4 do
    match waits_in name with
    | [ wait ] -> yes "the same" (wait.task = before.task)
    | waits -> int "it is there" 1 (List.length waits)
  done;
  List.iter (fun join -> join ()) joins;
  int "the others are over" 1 (List.length (waits ()));
  Mvar.put there ();
  stays ();
  int "no task waits" 0 (List.length (waits ()))

let () =
  let open Concord_styles in
  run "waits as they are"
    [
      ("answers", [ test "nothing after" nothing_after_the_answer ]);
      ( "hosts that do not answer",
        [
          test "in a thread" in_a_bare_host;
          test "in a task of Fifo" (in_fifo in_a_bare_host);
          test "in a cancelled task" in_a_cancelled_task;
          test "in a cancelled task, in Fifo" (in_fifo in_a_cancelled_task);
        ] );
      ( "operations",
        [
          test "Trampoline"
            (indirect "Trampoline" Trampoline.spawn Trampoline.start
               Trampoline.take_mvar (fun m -> Trampoline.put_mvar m () ignore));
          test "Events"
            (indirect "Events" Events.spawn Events.start Events.take_mvar
               (fun m -> Events.put_mvar m () ignore));
          test "a set that is stopped" stopped;
        ] );
      ( "signal handlers",
        Interrupting.only (test "of a thread" a_thread_waits)
        @ Interrupting.only (test "of tasks" (interrupted tasks_wait_in_vain))
      );
      ("domains", [ test "a storm" storm ]);
    ]
