(* Mvars. The scenarios below are those of values that come back, of [modify] with a function
   that raises, and of nudged tasks. Some others notice a fault that drawn scenarios often miss,
   for example if tasks spin. *)

open Actor

let sent = ref []
let received = ref []

let got v =
  received := v :: !received;
  string_of_int v

(* Each task puts a different value, so that an outcome shows which tasks met. *)
let put name box v =
  make name @@ fun () ->
  Mvar.put box v;
  sent := v :: !sent;
  "ok"

let swap name box v =
  make name @@ fun () ->
  let old = Mvar.swap box v in
  sent := v :: !sent;
  got old

let take name box = make name (fun () -> got (Mvar.take box))
let read name box = make name (fun () -> string_of_int (Mvar.read box))

let try_take name box =
  make name @@ fun () ->
  match Mvar.try_take box with None -> "none" | Some v -> got v

let modify name box =
  make name (fun () -> Mvar.modify box (fun v -> (v, string_of_int v)))

let modify_raises name box =
  make name @@ fun () ->
  match Mvar.modify box (fun _ -> raise Exit) with
  | () -> assert false (* [f] raises *)
  | exception Exit -> "raised"

(* A task that has taken [v] was cancelled before it could continue. *)
let back name box v =
  make name @@ fun () ->
  if Mvar.undo_take box Mvar.to_take v then "back" else got v

let back_then_put name box v next =
  make name @@ fun () ->
  ignore (Mvar.undo_take box Mvar.to_take v : bool);
  Mvar.put box next;
  sent := next :: !sent;
  "ok"

let take_twice name box =
  make name @@ fun () ->
  let first = got (Mvar.take box) in
  first ^ "," ^ got (Mvar.take box)

(* The values that came back and wait behind another one. *)
let behind_of putters =
  let values = ref [] in
  let see (w : _ Waiter.t) =
    if w.resumer == Waiter.accept then values := w.arg :: !values
  in
  Waiters.iter see putters;
  List.rev !values

let live_in (line : _ Mvar.line) =
  if Mvar.is_coming line then failwith "nudged at rest";
  live line.takers

(* At rest, takers wait only if the box is empty, and putters only if it is full. So no task
   waits that could be served. The result is what the box holds, the values that wait behind the
   first one, and how many waiters are live. *)
let content box =
  match Atomic.get box with
  | Mvar.Held _ -> failwith "held at rest"
  | Empty line -> ([], [], live_in line)
  | Full (v, putters, line) ->
      if live_in line > 0 then failwith "a taker waits though it is full";
      let behind = behind_of putters in
      (v :: behind, behind, live putters)

let at_rest box initial actors () =
  let held, behind, live = content box in
  let queued = live - List.length behind in
  if count_waiting actors <> queued then failwith "a waiter was lost, or stays";
  if queued = 0 && Mvar.waiters box <> List.length behind then
    failwith "waiters <> 0 at rest";
  let sorted = List.sort Int.compare in
  if sorted (initial @ !sent) <> sorted (held @ !received) then
    failwith "what was sent is not what was received and is still held";
  describe actors ^ " "
  ^
  if held = [] then "empty"
  else "full " ^ String.concat " " (List.map string_of_int held)

let box_with initial =
  sent := [];
  received := [];
  match initial with [] -> Mvar.create_empty () | v :: _ -> Mvar.create v

let check ?(looks = 0) ?(in_hand = []) name initial make expect =
  Model.check name ~expect @@ fun () ->
  spin_at_most looks;
  let box = box_with initial in
  let first, processes = make box in
  let processes, actors = start first processes in
  (processes, at_rest box (in_hand @ initial) actors)

let values_come_back () =
  let in_hand = [ 1 ] in
  check "a value comes back, a take" ~in_hand []
    (fun box -> ([], [ Run (back "x" box 1); Run (take "t" box) ]))
    [ "x=back t=1 empty" ];
  check "a value comes back to a full box, two takes" ~in_hand [ 2 ]
    (fun box ->
      ([], [ Run (back "x" box 1); Run (take "t" box); Run (take "u" box) ]))
    [ "x=back t=1 u=2 empty"; "x=back t=2 u=1 empty" ];
  check "a value comes back, a put, a take" ~in_hand []
    (fun box ->
      ([], [ Run (back "x" box 1); Run (put "p" box 2); Run (take "t" box) ]))
    [ "x=back p=ok t=1 full 2"; "x=back p=ok t=2 full 1" ];
  check "a value comes back, then a put, two takes" ~in_hand []
    (fun box ->
      ([], [ Run (back_then_put "x" box 1 2); Run (take_twice "t" box) ]))
    [ "x=ok t=1,2 empty" ];
  check "a value comes back to a full box, one waits to put" ~in_hand [ 2 ]
    (fun box ->
      let p = put "p" box 3 in
      ([ p ], [ Run (back "x" box 1); Run (take_twice "t" box) ]))
    [
      "p=ok x=back t=1,2 full 3";
      "p=ok x=back t=2,1 full 3";
      "p=ok x=back t=2,3 full 1";
    ];
  check "a value comes back, a take waits and is cancelled" ~in_hand []
    (fun box ->
      let t = take "t" box in
      ([ t ], [ Run (back "x" box 1); Cancel t ]))
    [ "t=1 x=back empty"; "t=cancelled x=back full 1" ];
  check "a value comes back, two takes wait, the first is cancelled" ~in_hand []
    (fun box ->
      let t = take "t" box in
      ([ t; take "u" box ], [ Run (back "x" box 1); Cancel t ]))
    [ "t=1 u=waits x=back empty"; "t=cancelled u=1 x=back empty" ];
  check "a value comes back, a read and a take wait, the read is cancelled"
    ~in_hand []
    (fun box ->
      let r = read "r" box in
      ([ r; take "t" box ], [ Run (back "x" box 1); Cancel r ]))
    [ "r=1 t=1 x=back empty"; "r=cancelled t=1 x=back empty" ];
  check "two values come back, a take waits" ~in_hand:[ 1; 2 ] []
    (fun box ->
      ([ take "t" box ], [ Run (back "x" box 1); Run (back "y" box 2) ]))
    [ "t=1 x=back y=back full 2"; "t=2 x=back y=back full 1" ];
  check "two values come back to a full box" ~in_hand:[ 1; 2 ] [ 3 ]
    (fun box -> ([], [ Run (back "x" box 1); Run (back "y" box 2) ]))
    [ "x=back y=back full 1 2 3"; "x=back y=back full 2 1 3" ];
  check "a value comes back during a modify, a take" ~in_hand [ 2 ]
    (fun box ->
      ([], [ Run (modify "m" box); Run (back "x" box 1); Run (take "t" box) ]))
    [
      "m=1 x=back t=1 full 2";
      "m=1 x=back t=2 full 1";
      "m=2 x=back t=1 full 2";
      "m=2 x=back t=2 full 1";
    ]

let order = Buffer.create 16

let modify_in_order name box =
  make name (fun () ->
      Mvar.modify box (fun v ->
          Buffer.add_string order name;
          (v, "ok")))

let take_and_put_twice name box =
  make name @@ fun () ->
  for _ = 1 to 2 do
    match Mvar.try_take box with
    | None -> ()
    | Some v ->
        Buffer.add_string order name;
        Mvar.put box v
  done;
  "ok"

(* The outcome says in which order the tasks had the value. *)
let check_ordered name make expect =
  Model.check name ~expect @@ fun () ->
  Buffer.clear order;
  let box = Mvar.create_empty () in
  let first, processes = make box in
  let processes, actors = start first processes in
  let at_rest () =
    (match Atomic.get box with
    | Full (1, putters, line) when live putters = 0 && live_in line = 0 -> ()
    | _ -> failwith "not as before");
    describe actors ^ " " ^ Buffer.contents order
  in
  (processes, at_rest)

(* The waiters are tasks of sleeping threads, so they are nudged. If it is [late] as soon as a
   task was nudged, no other task overtakes it. *)
let check_nudged what ~late =
  let unless_late outcomes = if late then [] else outcomes in
  check
    ("a sleeper waits to modify, another takes, a put" ^ what)
    []
    (fun box ->
      let a = modify "a" box in
      ([ a ], [ Run (put "p" box 1); Run (take "b" box) ]))
    ([ "a=1 p=ok b=1 empty" ] @ unless_late [ "a=waits p=ok b=1 empty" ]);
  check_ordered
    ("a sleeper waits to modify, another takes and puts twice" ^ what)
    (fun box ->
      ( [ modify_in_order "a" box ],
        [ Do (fun () -> Mvar.put box 1); Run (take_and_put_twice "b" box) ] ))
    ([ "a=ok b=ok a"; "a=ok b=ok ab"; "a=ok b=ok abb" ]
    @ unless_late [ "a=ok b=ok ba"; "a=ok b=ok bab" ]);
  check
    ("a sleeper waits to modify and is cancelled, another waits, a put" ^ what)
    []
    (fun box ->
      let a = modify "a" box and b = take "b" box in
      ([ a; b ], [ Run (put "p" box 1); Cancel a ]))
    [ "a=1 b=1 p=ok empty"; "a=cancelled b=1 p=ok empty" ];
  check
    ("a sleeper waits to modify and is cancelled, another tries" ^ what)
    []
    (fun box ->
      let a = modify "a" box in
      ([ a ], [ Run (put "p" box 1); Run (try_take "b" box); Cancel a ]))
    ([
       "a=1 p=ok b=1 empty";
       "a=1 p=ok b=none full 1";
       "a=cancelled p=ok b=1 empty";
       "a=cancelled p=ok b=none full 1";
     ]
    @ unless_late [ "a=waits p=ok b=1 empty" ])

module Described_mvar = Described.Make (Boxes.Of_mvar)

let () =
  Described_mvar.some 30 ~at_rest:(fun box -> ignore (content box));
  values_come_back ();
  check "a swap, a take and a put come to a full box" [ 1 ]
    (fun box ->
      let s = swap "swap" box 2 in
      ([], [ Run s; Run (take "take" box); Run (put "put" box 3) ]))
    [ "swap=1 take=2 put=ok full 3"; "swap=3 take=1 put=ok full 2" ];
  check "a modify raises, a take is cancelled" [ 1 ]
    (fun box ->
      let t = take "take" box in
      ([], [ Run (modify_raises "modify" box); Run t; Cancel t ]))
    [
      "modify=raised take=1 empty";
      "modify=raised take=cancelled full 1";
      "modify=waits take=1 empty";
    ];
  check "a put and a take that spin" ~looks:1 [ 1 ]
    (fun box ->
      let p = put "put" box 2 in
      ([], [ Run p; Run (take "take" box); Cancel p ]))
    [ "put=cancelled take=1 empty"; "put=ok take=1 full 2" ];
  check "a put that spins, a take, and another one that waits" ~looks:1 [ 1 ]
    (fun box ->
      let p = put "put" box 2 in
      ([], [ Run p; Run (take "takeA" box); Run (take "takeB" box) ]))
    [ "put=ok takeA=1 takeB=2 empty"; "put=ok takeA=2 takeB=1 empty" ];
  check "a take that spins while another one waits" ~looks:1 []
    (fun box ->
      let t = take "take1" box in
      ([ t ], [ Run (take "take2" box); Run (put "put" box 1); Cancel t ]))
    [
      "take1=1 take2=waits put=ok empty"; "take1=cancelled take2=1 put=ok empty";
    ];
  Sleeper.asleep := true;
  check_nudged "" ~late:false;
  Sleeper.step_ns := 2 * Nudge.patience_ns;
  check_nudged ", soon late" ~late:true;
  Model.finish ()
