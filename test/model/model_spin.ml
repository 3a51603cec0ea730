(* A task that spins, and then sleeps. *)

exception Interrupted

type block = Registers | Both | Resumes

(* Where a signal handler raises, once. It may raise in a turn of the spinning task. It may
   also raise in the function that the resumer calls for a sleeping task, before or after that
   function decides. *)
type handler = In_turn | Before_decision | After_decision

(* Another task of the same loop cancels the task. If the task spins, this happens in one of
   its turns. If it sleeps, this may happen at any moment. *)
type phase = Awake | Asleep of (exn -> unit) | Doomed

type host = {
  task : Model.task;
  phase : phase Atomic.t;
  mutable handler : handler option;
}

let once host where =
  if host.handler = Some where then begin
    host.handler <- None;
    raise Interrupted
  end

let is_doomed host = Atomic.get host.phase == Doomed

let cancel host () =
  match Atomic.exchange host.phase Doomed with
  | Asleep cancelled -> cancelled Model.Cancelled
  | Awake | Doomed -> ()

let turn host cancel =
  if is_doomed host then ignore (cancel Model.Cancelled : bool);
  once host In_turn

let suspend host ~cancel block =
  Suspend.suspend @@ fun resumer ->
  let decide outcome =
    once host Before_decision;
    let decided =
      (match outcome with Ok _ -> true | Error e -> cancel e)
      && resumer outcome
    in
    once host After_decision;
    decided
  in
  let cancelled e = ignore (decide (Error e) : bool) in
  if not (Atomic.compare_and_set host.phase Awake (Asleep cancelled)) then
    cancelled Model.Cancelled;
  Option.iter (fun v -> ignore (resumer (Ok v) : bool)) (block decide);
  None

let check host () = if is_doomed host then raise Model.Cancelled

let spinning host =
  {
    Spinning.check = check host;
    turn = (fun cancel -> turn host cancel);
    suspend = (fun ~cancel block -> suspend host ~cancel block);
  }

(* The value 1 is offered to one wait, and in some scenarios also 2. A value arrives if and
   only if the resumer answered [true]. *)
let check ?handler ?(turns = 1) ?(kind = Registers) name processes expect =
  Model.check name ~expect @@ fun () ->
  Thread.only := Some 0;
  Atomic.set Late.late [];
  let cell : int Suspend.resumer option Atomic.t = Atomic.make None in
  let told = ref [] in
  let tell resumer v =
    let answer =
      match resumer (Ok v) with
      | answer -> answer
      | exception Interrupted ->
          (* the resumer has decided *)
          if resumer (Ok v) then failwith "interrupted, but not decided";
          true
    in
    if resumer (Ok (10 * v)) then failwith "resumed twice";
    told := (v, answer) :: !told
  in
  let block resumer =
    match kind with
    | Registers ->
        Atomic.set cell (Some resumer);
        None
    | Both ->
        Atomic.set cell (Some resumer);
        Some 0
    | Resumes ->
        tell resumer 1;
        None
  in
  let host = { task = Model.task (); phase = Atomic.make Awake; handler } in
  let spin = Spin.create () in
  spin.spinning <- true;
  let returns = ref 0 in
  let wait () =
    let result =
      match Spinning.suspend_spinning spin (spinning host) turns block with
      | v -> string_of_int v
      | exception Interrupted -> "interrupted"
      | exception Model.Cancelled -> "cancelled"
    in
    incr returns;
    match Late.raise_kept () with
    | () -> result
    | exception Interrupted -> result ^ ", then interrupted"
  in
  let wait = { (Actor.make "wait" wait) with task = host.task } in
  let process = function
    | `Wait -> fun () -> Actor.run wait
    | `Resume v -> fun () -> Option.iter (fun r -> tell r v) (Atomic.get cell)
    | `Cancel -> cancel host
  in
  let outcome () =
    let begins v =
      String.split_on_char ',' wait.result |> List.hd = string_of_int v
    in
    let look (v, answer) =
      if answer && not (begins v) then
        failwith "the resumer answered true, but the value did not arrive";
      if begins v && not answer then
        failwith "the resumer answered false, but the value arrived"
    in
    List.iter look !told;
    if !returns > 1 then failwith "arrived twice";
    if wait.result = Actor.waiting && !told <> [] then
      failwith "decided, but the task still waits";
    if wait.result = Actor.waiting && is_doomed host then
      failwith "cancelled, but the task still waits";
    if spin.spinning && wait.result <> "-" then
      failwith "it has not ended its spinning";
    wait.result
  in
  (List.map process processes, outcome)

let () =
  check "resumed" [ `Wait; `Resume 1 ] [ "1"; "waits" ];
  check "resumed, two turns" ~turns:2 [ `Wait; `Resume 1 ] [ "1"; "waits" ];
  check "two resume" [ `Wait; `Resume 1; `Resume 2 ] [ "1"; "2"; "waits" ];
  check "cancelled" ~turns:2 [ `Wait; `Cancel ] [ "cancelled" ];
  check "resumed, cancelled" [ `Wait; `Resume 1; `Cancel ] [ "1"; "cancelled" ];
  check "resumed in block" ~kind:Resumes [ `Wait; `Cancel ] [ "1"; "cancelled" ];
  check "block registers and answers" ~kind:Both
    [ `Wait; `Resume 1; `Cancel ]
    [ "0"; "1"; "cancelled" ];
  check "interrupted while it spins" ~handler:In_turn
    [ `Wait; `Resume 1 ]
    [ "1, then interrupted"; "interrupted" ];
  check "interrupted while it spins, cancelled" ~handler:In_turn
    [ `Wait; `Cancel ]
    [ "cancelled"; "cancelled, then interrupted"; "interrupted" ];
  check "the resumer is interrupted before" ~handler:Before_decision
    [ `Wait; `Resume 1 ]
    [ "1"; "waits" ];
  check "the resumer is interrupted after" ~handler:After_decision
    [ `Wait; `Resume 1 ]
    [ "1"; "waits" ];
  Model.finish ()
