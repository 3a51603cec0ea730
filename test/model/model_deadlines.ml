(* The models' sleeper: how often it was started, until when it sleeps, and whether it was
   woken meanwhile. *)
type sleeper = {
  mutable started : int;
  mutable until : int;
  mutable woken : bool;
}

let time = ref 10
let now () = !time

let rec serve sleeper t =
  sleeper.woken <- false;
  Deadlines.run_due t ~now;
  match Deadlines.fall_asleep t ~now:(now ()) () with
  | Some until -> sleeper.until <- until
  | None -> serve sleeper t

let add sleeper t deadline action =
  let key, owed = Deadlines.add t ~process:1 ~deadline action in
  begin match owed with
  | Nobody -> sleeper.started <- sleeper.started + 1
  | Awake -> ()
  | Asleep asleep ->
      sleeper.woken <- true;
      Deadlines.woken asleep
  end;
  key

(* A scenario at time 10. [`Set (i, d)] sets action [i] with the deadline [d], and [`Unset (i,
   d)] also cancels it. [`Serve] is a sleeper that wakes for no reason. With [until], the
   sleeper was started before, and sleeps until then for an action that was cancelled. Without
   it, no sleeper was started. The outcome says whether the sleeper was woken and which actions
   were called. The remaining actions must be called when their time comes. *)
let check name ?until processes expect =
  Model.check name ~expect @@ fun () ->
  time := 10;
  let t = Deadlines.create () in
  let sleeper = { started = 0; until = Deadlines.never; woken = false } in
  Option.iter
    (fun deadline ->
      let key = add sleeper t deadline ignore in
      serve sleeper t;
      Deadlines.cancel t key)
    until;
  let called = Array.make 2 0 in
  let must = ref [] and late = ref 0 in
  let call i () = called.(i) <- called.(i) + 1 in
  let process = function
    | `Set (i, deadline) ->
        must := i :: !must;
        fun () -> ignore (add sleeper t deadline (call i) : Deadlines.key)
    | `Interrupted deadline ->
        (* It is interrupted before it wakes the sleeper. Nothing waits for its action, so that
           action may be late. *)
        late := deadline;
        fun () ->
          ignore
            (Deadlines.add t ~process:1 ~deadline ignore
              : Deadlines.key * unit Deadlines.sleeper)
    | `Unset (i, deadline) ->
        fun () ->
          let key = add sleeper t deadline (call i) in
          Deadlines.cancel t key;
          Deadlines.cancel t key
    | `Run -> fun () -> Deadlines.run_due t ~now
    | `Serve -> fun () -> serve sleeper t
    | `Start ->
        fun () ->
          if Deadlines.start_sleeper t ~process:1 then
            sleeper.started <- sleeper.started + 1
  in
  let outcome () =
    Deadlines.check t;
    if sleeper.started <> 1 then failwith "not one sleeper";
    let awaited (key : Deadlines.Key.t) _ = key.deadline <> !late in
    let first =
      Deadlines.(first (Actions.filter awaited (Atomic.get t).actions))
    in
    if until <> None && (not sleeper.woken) && sleeper.until > first then
      failwith "sleeps for too long";
    let is_called i = if called.(i) > 0 then string_of_int i else "-" in
    let outcome =
      (if sleeper.woken then "woken " else "") ^ is_called 0 ^ is_called 1
    in
    time := 100;
    serve sleeper t;
    let check_one i = if called.(i) <> 1 then failwith "not called once" in
    List.iter check_one !must;
    if Array.exists (fun times -> times > 1) called then failwith "called twice";
    outcome
  in
  (List.map process processes, outcome)

let () =
  check "the first two" [ `Set (0, 20); `Set (1, 15); `Start ] [ "--" ];
  check "sooner than the sleep" ~until:20
    [ `Set (0, 15); `Set (1, 12); `Serve ]
    [ "woken --"; "--" ];
  check "sooner than the sleep, one is interrupted" ~until:20
    [ `Interrupted 12; `Set (0, 15) ]
    [ "woken --" ];
  check "the same, beside the sleeper" ~until:20
    [ `Interrupted 12; `Set (0, 15); `Serve ]
    [ "woken --"; "--" ];
  check "later than the sleep" ~until:20
    [ `Set (0, 20); `Set (1, 25); `Serve ]
    [ "--" ];
  check "due, and later" ~until:20
    [ `Set (0, 5); `Set (1, 15); `Serve ]
    [ "woken --"; "woken 0-"; "0-" ];
  check "called by one of two" ~until:20
    [ `Set (0, 10); `Run; `Serve ]
    [ "woken --"; "woken 0-"; "0-" ];
  check "cancelled, or called by one of two" ~until:20
    [ `Unset (0, 10); `Run; `Serve ]
    [ "woken --"; "woken 0-"; "--"; "0-" ];
  check "one of the same deadline is cancelled" ~until:20
    [ `Unset (0, 10); `Set (1, 10); `Serve ]
    [ "woken --"; "woken -1"; "woken 0-"; "-1"; "01" ];
  Model.finish ()
