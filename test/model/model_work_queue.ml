(* Work queues. The scenarios below are those of items that come back, and of tickets, with which
   tasks withdraw an item while it is moved. *)

open Actor

let taken = ref []

let took v =
  taken := v :: !taken;
  string_of_int v

let add name v t =
  make name @@ fun () ->
  ignore (Work_queue.add t v : int Work_queue.ticket);
  "ok"

(* Adds an item, and withdraws it at once. *)
let add_withdraw name v t =
  make name @@ fun () ->
  if Work_queue.withdraw (Work_queue.add t v) then "withdrawn" else "taken"

let withdraw name ticket =
  make name @@ fun () ->
  if Work_queue.withdraw ticket then "withdrawn" else "taken"

let try_add name v t =
  make name @@ fun () ->
  match Work_queue.try_add t v with Some _ -> "ok" | None -> "full"

let take name t = make name (fun () -> took (Work_queue.take t))

(* A task that has taken [v] was cancelled before it could continue. *)
let back name v t =
  make name @@ fun () -> if Work_queue.undo_take t () v then "back" else took v

let back_then_add name v next t =
  make name @@ fun () ->
  ignore (Work_queue.undo_take t () v : bool);
  ignore (Work_queue.add t next : int Work_queue.ticket);
  "ok"

let take_twice name t =
  make name @@ fun () ->
  let first = took (Work_queue.take t) in
  first ^ "," ^ took (Work_queue.take t)

let try_take name t =
  make name @@ fun () ->
  match Work_queue.try_take t with None -> "none" | Some v -> took v

let drain name t =
  make name @@ fun () -> String.concat "," (List.map took (Work_queue.drain t))

let close t = Do (fun () -> Work_queue.close t)

(* The items at rest, and how many tasks wait. [back] of them came back. *)
let content ?(back = 0) t =
  let s = Atomic.get t in
  let items = List.map snd (Work_queue.Items.bindings s.Work_queue.items) in
  let adders = live s.adders and takers = live s.takers in
  if s.transit <> Nothing then failwith "in transit at rest";
  if s.length <> List.length items then failwith "miscounted";
  if s.length > s.capacity + back then failwith "above its capacity";
  if adders > 0 && s.length < s.capacity then
    failwith "a task waits, but there is room";
  if takers > 0 && items <> [] then
    failwith "a task waits, but there is an item";
  (items, adders + takers)

let at_rest ?(in_hand = []) t actors () =
  let items, waiting = content ~back:(List.length in_hand) t in
  all_queued actors [ waiting ];
  if List.exists (fun v -> List.mem v items) !taken then failwith "doubled";
  let all = items @ !taken in
  let is_here v = List.length (List.filter (Int.equal v) all) = 1 in
  if not (List.for_all is_here in_hand) then failwith "lost, or doubled";
  Printf.sprintf "%s [%s]" (describe actors)
    (String.concat " " (List.map string_of_int items))

(* A queue with these items, and their tickets. *)
let queue capacity items =
  taken := [];
  let t = Work_queue.create capacity in
  let tickets = List.map (Work_queue.add t) items in
  (t, tickets)

let check ?in_hand name capacity items make expect =
  Model.check name ~expect @@ fun () ->
  let t, tickets = queue capacity items in
  let first, processes = make t tickets in
  let processes, actors = start first processes in
  (processes, at_rest ?in_hand t actors)

let items_come_back () =
  let in_hand = [ 1 ] in
  check "an item comes back, one takes" ~in_hand 1 []
    (fun t _ -> ([], [ Run (back "x" 1 t); Run (take "a" t) ]))
    [ "x=back a=1 []" ];
  check "an item comes back to a full queue, two take" ~in_hand 1 [ 2 ]
    (fun t _ ->
      ([], [ Run (back "x" 1 t); Run (take "a" t); Run (take "b" t) ]))
    [ "x=back a=1 b=2 []"; "x=back a=2 b=1 []" ];
  check "an item comes back to a full queue, one drains" ~in_hand 2 [ 2; 3 ]
    (fun t _ -> ([], [ Run (back "x" 1 t); Run (drain "a" t) ]))
    [ "x=back a=1,2,3 []"; "x=back a=2,3 [1]" ];
  check "an item comes back to a full queue, one waits to add, one takes"
    ~in_hand 1 [ 2 ]
    (fun t _ ->
      let a = add "a" 3 t in
      ([ a ], [ Run (back "x" 1 t); Run (take "b" t); Cancel a ]))
    [
      "a=cancelled x=back b=1 [2]";
      "a=cancelled x=back b=2 [1]";
      "a=ok x=back b=2 [1 3]";
    ];
  check "an item comes back, then one is added, one takes twice" ~in_hand 1 []
    (fun t _ -> ([], [ Run (back_then_add "x" 1 2 t); Run (take_twice "a" t) ]))
    [ "x=ok a=1,2 []" ];
  check "an item comes back, one waits to take and is cancelled" ~in_hand 1 []
    (fun t _ ->
      let a = take "a" t in
      ([ a ], [ Run (back "x" 1 t); Cancel a ]))
    [ "a=1 x=back []"; "a=cancelled x=back [1]" ];
  check "an item comes back, two wait to take, the first is cancelled" ~in_hand
    1 []
    (fun t _ ->
      let a = take "a" t in
      ([ a; take "b" t ], [ Run (back "x" 1 t); Cancel a ]))
    [ "a=1 b=waits x=back []"; "a=cancelled b=1 x=back []" ];
  check "two items come back, one waits to take" ~in_hand:[ 1; 2 ] 1 []
    (fun t _ -> ([ take "a" t ], [ Run (back "x" 1 t); Run (back "y" 2 t) ]))
    [ "a=1 x=back y=back [2]"; "a=2 x=back y=back [1]" ];
  check "two items come back to a full queue" ~in_hand:[ 1; 2 ] 1 [ 3 ]
    (fun t _ -> ([], [ Run (back "x" 1 t); Run (back "y" 2 t) ]))
    [ "x=back y=back [1 2 3]"; "x=back y=back [2 1 3]" ];
  check "an item comes back, another one is withdrawn, one takes" ~in_hand 1
    [ 2 ]
    (fun t tickets ->
      ( [],
        [
          Run (back "x" 1 t);
          Run (withdraw "w" (List.hd tickets));
          Run (try_take "a" t);
        ] ))
    [
      "x=back w=taken a=2 [1]";
      "x=back w=withdrawn a=1 []";
      "x=back w=withdrawn a=none [1]";
    ];
  (* The item can still be taken, but a task may have been told before that there is none. *)
  check "an item comes back, close, one takes" ~in_hand 1 []
    (fun t _ -> ([], [ Run (back "x" 1 t); close t; Run (take "a" t) ]))
    [ "x=back a=1 []"; "x=back a=closed [1]" ];
  check "an item comes back, one waits to add, another takes" ~in_hand 1 [ 2 ]
    (fun t _ ->
      ([ add "a" 3 t ], [ Run (back "x" 1 t); Run (take_twice "b" t) ]))
    [
      "a=ok x=back b=1,2 [3]"; "a=ok x=back b=2,1 [3]"; "a=ok x=back b=2,3 [1]";
    ]

(* With a capacity of one, tasks may come to take an item while it is moved. *)
module Of_one = Work_queues.Of (struct
  let capacity = 1
end)

module Described_one = Described.Make (Of_one)
module Described_two = Described.Make (Work_queues.Of_two)

let () =
  Described_one.some 30 ~at_rest:(fun { queue; _ } -> ignore (content queue));
  Described_two.some 15 ~at_rest:(fun { queue; _ } -> ignore (content queue));
  items_come_back ();
  check "an item is taken and withdrawn" 1 [ 1 ]
    (fun t tickets ->
      ([], [ Run (take "a" t); Run (withdraw "b" (List.hd tickets)) ]))
    [ "a=1 b=taken []"; "a=waits b=withdrawn []" ];
  check "the first of two is withdrawn, one takes" 2 [ 1; 2 ]
    (fun t tickets ->
      ([], [ Run (take "a" t); Run (withdraw "b" (List.hd tickets)) ]))
    [ "a=1 b=taken [2]"; "a=2 b=withdrawn []" ];
  check "withdrawn twice" 1 [ 1 ]
    (fun _ tickets ->
      let ticket = List.hd tickets in
      ([], [ Run (withdraw "a" ticket); Run (withdraw "b" ticket) ]))
    [ "a=taken b=withdrawn []"; "a=withdrawn b=taken []" ];
  check "one waits to take, another adds and withdraws" 1 []
    (fun t _ -> ([ take "a" t ], [ Run (add_withdraw "b" 1 t) ]))
    [ "a=1 b=taken []" ];
  check "one waits to take and is cancelled, another adds and withdraws" 1 []
    (fun t _ ->
      let a = take "a" t in
      ([ a ], [ Run (add_withdraw "b" 1 t); Cancel a ]))
    [ "a=1 b=taken []"; "a=cancelled b=withdrawn []" ];
  check "one waits to add, and withdraws; another takes" 1 [ 0 ]
    (fun t _ -> ([ add_withdraw "a" 1 t ], [ Run (take "b" t) ]))
    [ "a=withdrawn b=0 []" ];
  check "one waits to add, and withdraws; two take" 1 [ 0 ]
    (fun t _ ->
      ([ add_withdraw "a" 1 t ], [ Run (take "b" t); Run (take "c" t) ]))
    [
      "a=taken b=0 c=1 []";
      "a=taken b=1 c=0 []";
      "a=withdrawn b=0 c=waits []";
      "a=withdrawn b=waits c=0 []";
    ];
  check "one waits to add, the item is withdrawn, another tries" 1 [ 0 ]
    (fun t tickets ->
      ( [ add "a" 1 t ],
        [ Run (withdraw "b" (List.hd tickets)); Run (try_add "c" 2 t) ] ))
    [ "a=ok b=withdrawn c=full [1]" ];
  check
    "one waits to add and is cancelled, the item is withdrawn, another tries" 1
    [ 0 ]
    (fun t tickets ->
      let a = add "a" 1 t in
      ( [ a ],
        [
          Run (withdraw "b" (List.hd tickets)); Run (try_add "c" 2 t); Cancel a;
        ] ))
    [
      "a=cancelled b=withdrawn c=full []";
      "a=cancelled b=withdrawn c=ok [2]";
      "a=ok b=withdrawn c=full [1]";
    ];
  (* The number of the next item is known, so a ticket can be made for an item before the task
     that adds it runs. *)
  let second t = { Work_queue.queue = t; number = 2 } in
  check "one waits to add, another takes, the new item is withdrawn" 1 [ 0 ]
    (fun t _ ->
      ([ add "a" 1 t ], [ Run (take "b" t); Run (withdraw "c" (second t)) ]))
    [ "a=ok b=0 c=taken [1]"; "a=ok b=0 c=withdrawn []" ];
  check "one waits to add, two take, the new item is withdrawn" 1 [ 0 ]
    (fun t _ ->
      ( [ add "a" 1 t ],
        [ Run (take "b" t); Run (take "d" t); Run (withdraw "c" (second t)) ] ))
    [
      "a=ok b=0 d=1 c=taken []";
      "a=ok b=1 d=0 c=taken []";
      "a=ok b=0 d=waits c=withdrawn []";
      "a=ok b=waits d=0 c=withdrawn []";
    ];
  check
    "two wait to add, the first item is withdrawn as it comes, another tries" 1
    [ 0 ]
    (fun t _ ->
      ( [ add "a" 1 t; add "b" 2 t ],
        [
          Run (take "c" t); Run (withdraw "d" (second t)); Run (try_add "e" 3 t);
        ] ))
    [
      "a=ok b=ok c=0 d=withdrawn e=full [2]";
      "a=ok b=waits c=0 d=taken e=full [1]";
    ];
  check "two wait to add, all is drained" 2 [ 1; 2 ]
    (fun t _ -> ([ add "a" 3 t; add "b" 4 t ], [ Run (drain "c" t) ]))
    [ "a=ok b=ok c=1,2 [3 4]" ];
  check "one waits to add, the item is withdrawn, it is closed" 1 [ 0 ]
    (fun t tickets ->
      ([ add "a" 1 t ], [ Run (withdraw "b" (List.hd tickets)); close t ]))
    [ "a=closed b=withdrawn []"; "a=ok b=withdrawn [1]" ];
  check "one comes to take, it is closed, the item is withdrawn" 1 [ 0 ]
    (fun t tickets ->
      ([], [ Run (take "a" t); close t; Run (withdraw "b" (List.hd tickets)) ]))
    [ "a=0 b=taken []"; "a=closed b=withdrawn []" ];
  Model.finish ()
