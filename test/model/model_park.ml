(* Hosts that only [Domain_local_await] knows. The model of their trigger is a wait that can be
   cancelled, or woken without a resumption. *)

type trigger = Init | Awaited of unit Suspend.resumer | Released

let prepare () =
  let state = Atomic.make Init in
  let release () =
    match Atomic.exchange state Released with
    | Awaited resumer -> ignore (resumer (Ok ()) : bool)
    | Init | Released -> ()
  and await () =
    Suspend.suspend @@ fun resumer ->
    if Atomic.compare_and_set state Init (Awaited resumer) then None
    else Some ()
  in
  Domain_local_await.{ release; await }

exception Interrupted = Parker.Interrupted

(* A signal handler raises when a process has begun to release the trigger. *)
let interrupted (trigger : Domain_local_await.t) =
  let before = ref true in
  let release () =
    if !before then begin
      before := false;
      raise Interrupted
    end;
    trigger.release ()
  in
  { trigger with release }

let spin_of_one_look () =
  let spin = Spin.create () in
  Spin.limit spin 1;
  spin

(* One value is offered to one wait. Either it arrives, or the resumer returned [false]. With
   [looks], the task spins before it awaits its trigger. *)
let check ?(looks = false) ?(trigger = Fun.id) name processes expect =
  Model.check name ~expect @@ fun () ->
  Domains.spawned := looks;
  Domain.DLS.set Park.spins_of_tasks (spin_of_one_look ());
  Domain_local_await.prepare := prepare;
  let trigger = trigger (prepare ()) in
  let cell : int Suspend.resumer option Atomic.t = Atomic.make None in
  let answers = ref [] in
  let block resumer =
    if Atomic.compare_and_set cell None (Some resumer) then None else Some 0
  in
  let wait =
    Actor.make "wait" (fun () -> string_of_int (Park.suspend trigger block))
  in
  let resume v () =
    let answer =
      match Atomic.exchange cell None with
      | Some resumer ->
          (* The second call must have no effect. *)
          let answer =
            match resumer (Ok v) with
            | answer -> string_of_bool answer
            | exception Interrupted -> "interrupted"
          in
          if resumer (Ok (10 * v)) then failwith "resumed twice";
          answer
      | None -> "nobody"
    in
    answers := (string_of_int v ^ ":" ^ answer) :: !answers
  in
  let process = function
    | `Wait -> fun () -> Actor.run wait
    | `Resume v -> resume v
    | `Cancel -> fun () -> Model.cancel wait.task
    | `Spurious -> trigger.release
  in
  let outcome () =
    let told v = List.mem (string_of_int v ^ ":true") !answers in
    if told 1 && wait.result <> "1" then
      failwith "the resumer answered true, but the value did not arrive";
    let decided = told 1 || List.mem "1:interrupted" !answers in
    if wait.result = "1" && not decided then
      failwith "the value arrived, but no resumer answered true";
    if wait.result = Actor.waiting && List.mem "1:false" !answers then
      failwith "all resumers answered false, but the task still waits";
    String.concat " " (Actor.describe [ wait ] :: !answers)
  in
  (List.map process processes, outcome)

(* If a handler raises in a thread that was already resumed, the exception isn't lost, because
   the thread's next suspension raises it. If the thread was woken for no reason, the exception
   is raised at once. With [looks], the thread spins before it sleeps. *)
let check_thread ?(looks = false) ?(protect = fun f -> f ()) name processes
    expect =
  Model.check name ~expect @@ fun () ->
  Domains.spawned := looks;
  Domain.DLS.set Park.spins (spin_of_one_look ());
  let triggers = ref [] in
  (Domain_local_await.prepare :=
     fun () ->
       let trigger = prepare () in
       triggers := trigger :: !triggers;
       trigger);
  Parker.interrupt := true;
  Thread.only := Some 0;
  let of_another =
    Late.{ thread = 99; exn = Exit; backtrace = Printexc.get_callstack 0 }
  in
  Atomic.set Late.late [ of_another ];
  Atomic.set Late.protected [ 99 ];
  let cell : int Suspend.resumer option Atomic.t = Atomic.make None in
  let block resumer =
    if Atomic.compare_and_set cell None (Some resumer) then None else Some 0
  in
  let attempt block =
    match Park.suspend_thread block with
    | v -> string_of_int v
    | exception Interrupted -> "interrupted"
  in
  let wait =
    Actor.make "wait" (fun () ->
        let first = protect (fun () -> attempt block) in
        let second = attempt (fun _ -> Some 2) in
        first ^ "," ^ second)
  in
  if not looks then Actor.run wait;
  let answer = ref "" in
  let process = function
    | `Wait -> fun () -> Actor.run wait
    | `Resume -> (
        fun () ->
          match Atomic.exchange cell None with
          | Some resumer -> answer := string_of_bool (resumer (Ok 1))
          | None -> ())
    | `Spurious -> fun () -> (List.hd !triggers).release ()
  in
  let outcome () =
    if Atomic.get Late.late <> [ of_another ] then
      failwith "another thread's trigger was used, or its own remains";
    if wait.result <> Actor.waiting && Atomic.get Late.protected <> [ 99 ] then
      failwith "still protected";
    Actor.describe [ wait ] ^ " " ^ !answer
  in
  (List.map process processes, outcome)

let () =
  check_thread "a thread, interrupted when it is resumed" [ `Resume ]
    [ "wait=1,interrupted true" ];
  check_thread "a thread, interrupted when it is woken, and resumed"
    [ `Resume; `Spurious ]
    [ "wait=1,interrupted true"; "wait=interrupted,2 false" ];
  check_thread "a thread that spins" ~looks:true [ `Wait; `Resume ]
    [ "wait=1,2 true"; "wait=1,interrupted true"; "wait=waits " ];
  let protect f = Late.protect f in
  check_thread "a protected thread that spins" ~looks:true ~protect
    [ `Wait; `Resume ]
    [ "wait=1,2 true"; "wait=1,interrupted true"; "wait=waits " ];
  check_thread "a protected thread, interrupted when it is resumed" ~protect
    [ `Resume ]
    [ "wait=1,interrupted true" ];
  check_thread "a protected thread, interrupted when it is woken, and resumed"
    ~protect [ `Resume; `Spurious ]
    [ "wait=1,interrupted true" ];
  check "a task that spins" ~looks:true
    [ `Wait; `Resume 1 ]
    [ "wait=1 1:true"; "wait=waits 1:nobody" ];
  check "a task that spins, resume and cancel" ~looks:true
    [ `Wait; `Resume 1; `Cancel ]
    [
      "wait=1 1:true";
      "wait=cancelled 1:false";
      "wait=cancelled 1:nobody";
      "wait=waits 1:nobody";
    ];
  check "a task that spins, and a spurious wake-up" ~looks:true
    [ `Wait; `Resume 1; `Spurious ]
    [ "wait=1 1:true"; "wait=waits 1:nobody" ];
  check "resume and cancel"
    [ `Wait; `Resume 1; `Cancel ]
    [
      "wait=1 1:true";
      "wait=cancelled 1:false";
      "wait=cancelled 1:nobody";
      "wait=waits 1:nobody";
    ];
  check "resume and a spurious wake-up"
    [ `Wait; `Resume 1; `Spurious ]
    [ "wait=1 1:true"; "wait=waits 1:nobody" ];
  check "cancel and a spurious wake-up"
    [ `Wait; `Cancel; `Spurious ]
    [ "wait=cancelled"; "wait=waits" ];
  check "all of them"
    [ `Wait; `Resume 1; `Cancel; `Spurious ]
    [
      "wait=1 1:true";
      "wait=cancelled 1:false";
      "wait=cancelled 1:nobody";
      "wait=waits 1:nobody";
    ];
  check "resume, interrupted" ~trigger:interrupted
    [ `Wait; `Resume 1 ]
    [ "wait=1 1:interrupted"; "wait=waits 1:nobody" ];
  check "resume, interrupted, and cancel" ~trigger:interrupted
    [ `Wait; `Resume 1; `Cancel ]
    [
      "wait=1 1:interrupted";
      "wait=cancelled 1:false";
      "wait=cancelled 1:nobody";
      "wait=waits 1:nobody";
    ];
  Model.finish ()
