open Concord
open Concord.Tools
open Concord_test_support
open Check
open Held

let sys_error f =
  match f () with
  | () -> Alcotest.fail "nothing was raised"
  | exception Sys_error message -> message

let[@inline never] locks_here m =
  Mutex.lock m;
  ignore (Sys.opaque_identity () : unit)

let twice () =
  let m = Mutex.create () in
  Debug.name m "twice";
  locks_here m;
  let message = sys_error (fun () -> Mutex.lock m) in
  List.iter
    (fun part -> yes part (contains message part))
    [ "Mutex.lock"; "mutex \"twice\""; "test_misuse.ml"; "locks_here" ];
  (* A choice isn't refused, because another alternative may happen. *)
  yes "a choice is not refused"
    (Event.select
       [
         Event.wrap (Mutex.lock_evt m) (fun () -> false);
         Event.wrap (Event.timeout 0.01) (fun () -> true);
       ]);
  Mutex.unlock m;
  ignore
    (sys_error (fun () -> Mutex.protect m (fun () -> Mutex.protect m ignore))
      : string);
  no "unlocked" (Mutex.is_locked m);
  (* The refused call must not have left the mutex locked. *)
  Mutex.lock m;
  Mutex.unlock m

(* A host that handles [Suspend] but doesn't say which task runs. Its tasks must not be
   mistaken for the thread. *)
let unanswered () =
  let m = Mutex.create () in
  Mutex.lock m;
  let task = Hand.start (fun () -> Mutex.lock m) in
  yes "another task waits" (Hand.waits task);
  Mutex.unlock m;
  Hand.settle ();
  Hand.result task

let by_another () =
  let m = Mutex.create () in
  Debug.name m "another's";
  locks_here m;
  let (), written =
    with_stderr (fun () -> Thread.join (Thread.create Mutex.unlock m))
  in
  List.iter
    (fun part -> yes part (contains written part))
    [ "Mutex.unlock"; "mutex \"another's\""; this_thread (); "locks_here" ];
  no "unlocked all the same" (Mutex.is_locked m);
  let (), written =
    with_stderr (fun () ->
        Mutex.lock m;
        Mutex.unlock m;
        Mutex.protect m ignore)
  in
  Alcotest.(check string) "by the owner" "" written

(* A thread locks the mutex, and then a task in the thread's loop unlocks it. Both count as
   the same thread. *)
let in_the_same_thread () =
  let m = Mutex.create () in
  let (), written =
    with_stderr (fun () ->
        Mutex.lock m;
        Concord_fifo.run (fun () -> Mutex.unlock m);
        Concord_fifo.run (fun () -> Mutex.lock m);
        Mutex.unlock m)
  in
  Alcotest.(check string) "no warning" "" written

(* The printed frames are only those of the program itself. *)
let frames () =
  let m = Mutex.create () in
  let (), written =
    with_stderr (fun () ->
        locks_here m;
        Thread.join
          (Thread.create
             (fun () ->
               Mutex.unlock m;
               ignore (Sys.opaque_identity () : unit))
             ()))
  in
  yes written (contains written "test_misuse.ml");
  List.iter
    (fun part -> no (part ^ " in " ^ written) (contains written part))
    [ "Concord__"; "list.ml"; "thread.ml" ]

(* In bytecode, OCaml 5.4.1 misreads the position of the second exception handler on a
   stack. It leaves out the frame there, which here is that of the thread's function. *)
let frames_cases =
  if Sys.backend_type = Native then [ test "frames" frames ] else []

let ended () =
  let m = Mutex.create () in
  Debug.name m "left locked";
  Thread.join (Thread.create locks_here m);
  (* The thread's identity has to be collected before its end is seen. *)
  eventually "its end is seen" (fun () ->
      Gc.full_major ();
      List.exists
        (fun (holder : Concord__core__Holder.t) ->
          Concord__core__Who.has_ended holder.by)
        (Concord__Mutex.owners m));
  let (), written =
    with_stderr (fun () ->
        while_waiting "left locked"
          (fun () -> Mutex.protect m ignore)
          ~release:(fun () -> Mutex.unlock m)
          (fun () ->
            yes "in the report"
              (contains (Debug.to_string (Debug.report ())) "has ended")))
  in
  yes "when somebody waits" (contains written "has ended since");
  yes "where" (contains written "locks_here")

(* Runs [f ()] in a task that is known as [who] and never continues after a wait. Its
   resumers return [resumer ()]. *)
let as_task who ~resumer f =
  let effc (type a) (effect_ : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match effect_ with
    | Concord__core__Suspend.Suspend block ->
        Some
          (fun k ->
            match block (fun _ -> resumer ()) with
            | Some v -> Effect.Deep.continue k v
            | None -> ())
    | Concord__core__Suspend.Ask { question = Concord__core__Who.Who; _ } ->
        Some (fun k -> Effect.Deep.continue k (Some who))
    | _ -> None
  in
  Effect.Deep.match_with f () { retc = Fun.id; exnc = raise; effc }

(* While a mutex is being handed to a task that refuses it, that task counts as its owner.
   Here this lasts while the task's resumer runs. *)
let handed_over_in_vain () =
  let m = Mutex.create () in
  let who =
    Concord__core__Who.make_strong ~host:"test" ~name:"the one that refuses"
      (ref ())
  and other =
    Concord__core__Who.make_strong ~host:"test" ~name:"another" (ref ())
  in
  let waits who =
    as_task who ~resumer:(fun () -> false) (fun () -> Mutex.lock m)
  in
  let refuse () =
    waits who;
    Concord__core__Identity.release who.identity;
    waits other;
    false
  in
  Mutex.lock m;
  as_task who ~resumer:refuse (fun () -> Mutex.lock m);
  let (), written = with_stderr (fun () -> Mutex.unlock m) in
  Alcotest.(check string) "no warning" "" written

(* The owner unlocks and ends between two reads of the owner. *)
let unlocked_meanwhile () =
  let m = Mutex.create () in
  let holder =
    Hand.result (Hand.start (fun () -> Concord__core__Holders.within Fun.id))
  and caller = Concord__core__Holders.caller () in
  let lock_when ~owners =
    let owners = ref owners in
    let owner _ =
      match !owners with
      | [] -> Concord__core__Holders.unknown
      | owner :: rest ->
          owners := rest;
          owner
    in
    snd
      (with_stderr (fun () ->
           Concord__core__Holders.before_lock caller m ~owner))
  in
  Alcotest.(check string) "unlocked meanwhile" "" (lock_when ~owners:[ holder ]);
  yes "still locked"
    (contains (lock_when ~owners:[ holder; holder ]) "has ended since");
  let named ~owners =
    let owners = ref owners in
    let read () =
      match !owners with
      | [] -> []
      | owner :: rest ->
          owners := rest;
          Concord__core__Holders.to_list owner
    in
    List.map
      (fun (holder : Concord__core__Holder.t) ->
        contains holder.by.name "(which has ended)")
      (Concord__diagnosis.Known.who_hold read)
  in
  let bools = Alcotest.(check (list bool)) in
  bools "no holder, in a report" [] (named ~owners:[ holder ]);
  bools "another" [ false ] (named ~owners:[ holder; caller ]);
  bools "still held" [ true ] (named ~owners:[ holder; holder ])

let barrier () =
  let t = Barrier.create ~name:"barrier" 3 in
  let one = Thread.create Barrier.await t in
  let two = Thread.create Barrier.await t in
  eventually_waits ~n:2 "barrier";
  yes "how many are missing"
    ((target "barrier").state = "1 of 3 parties missing");
  Barrier.await t;
  List.iter Thread.join [ one; two ]

let () =
  run "misuse"
    [
      ( "misuse",
        [
          test "locked twice" twice;
          test "a host that does not answer" unanswered;
          test "unlocked by another" by_another;
          test "unlocked in the same thread" in_the_same_thread;
          test "held across the end" ended;
          test "handed to a task that refuses" handed_over_in_vain;
          test "unlocked meanwhile" unlocked_meanwhile;
          test "barrier" barrier;
        ]
        @ frames_cases );
    ]
