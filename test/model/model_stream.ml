(* Streams. The scenarios below are those of items that come back, of the items of one moment, and
   of items in the list. *)

open Actor

let added = ref []
let taken = ref []

let took v =
  taken := v :: !taken;
  string_of_int v

(* The items of one producer are added in ascending order. *)
let add name t vs =
  make name @@ fun () ->
  let add v =
    Stream.add t v;
    added := v :: !added
  in
  List.iter add vs;
  "ok"

let try_add name t v =
  make name @@ fun () ->
  if Stream.try_add t v then begin
    added := v :: !added;
    "ok"
  end
  else "full"

let show vs = "[" ^ String.concat " " (List.map string_of_int vs) ^ "]"
let take name t = make name (fun () -> took (Stream.take t))

let take_twice name t =
  make name @@ fun () ->
  let first = took (Stream.take t) in
  first ^ "," ^ took (Stream.take t)

let try_take name t =
  make name @@ fun () ->
  match Stream.try_take t with None -> "none" | Some v -> took v

let drain name t =
  make name @@ fun () ->
  let vs = Stream.drain t in
  List.iter (fun v -> ignore (took v)) vs;
  show vs

(* A task that has taken [v] was cancelled before it could continue. *)
let back name t v =
  make name @@ fun () -> if Stream.undo_take t () v then "back" else took v

(* The items that its own task sees, one after the other, once [v] is back. *)
let back_then_take name t v =
  make name @@ fun () ->
  ignore (Stream.undo_take t () v : bool);
  took (Stream.take t)

let back_then_add name t v next =
  make name @@ fun () ->
  ignore (Stream.undo_take t () v : bool);
  Stream.add t next;
  added := next :: !added;
  "ok"

let back_then_close name t v =
  make name @@ fun () ->
  ignore (Stream.undo_take t () v : bool);
  Stream.close t;
  "ok"

let close t = Do (fun () -> Stream.close t)

(* The items at rest, and how many tasks wait. *)
let content t =
  let first = Atomic.get t.Stream.first and last = Atomic.get t.Stream.last in
  let front = Stream.front first in
  let values = Stream.values front (Stream.top last) in
  let in_room = List.length values - Stream.returned front in
  let full = in_room = t.capacity in
  let adders =
    match first with
    | First (Bare _ | Item _ | Returned _ | Shut _) -> 0
    | First (Full { adders; _ }) ->
        if not full then failwith "they wait to add, but there is room";
        live adders
    | First (Moving _) -> failwith "moving at rest"
  in
  let takers =
    match last with
    | Last (Node _ | Renewed _ | Sealed _) -> 0
    | Last (Takers { takers; _ }) ->
        if values <> [] then failwith "they wait to take, but there are items";
        live takers
  in
  let shut = match first with First (Shut _) -> true | _ -> false in
  let sealed = match last with Last (Sealed _) -> true | _ -> false in
  if shut <> sealed then failwith "shut, but not sealed; or sealed only";
  let (Node { value; below; _ } : _ Stream.node) = Stream.top last in
  let is_cut_off = Stream.is_cut_off below && value == Identity.nothing () in
  if values = [] && not is_cut_off then failwith "taken items are not cut off";
  if Stream.waiters t <> adders + takers then failwith "waiters: miscounted";
  if Stream.length t <> List.length values then failwith "length: miscounted";
  if in_room > t.capacity then failwith "above its capacity";
  (values, adders + takers)

let at_rest t initial actors () =
  let values, waiting = content t in
  all_queued actors [ waiting ];
  let sorted = List.sort Int.compare in
  if sorted (initial @ !added) <> sorted (values @ !taken) then
    failwith ("lost or doubled: " ^ describe actors ^ " " ^ show values);
  describe actors ^ " " ^ show values

(* With [listed], an item was taken before. This moved all initial items except the last one
   from the stack to the list. *)
let stream ~listed capacity initial =
  added := [];
  taken := [];
  let t = Stream.create capacity in
  let rec add_all = function
    | [] -> ()
    | [ v ] when listed ->
        ignore (Stream.take t);
        Stream.add t v
    | v :: vs ->
        Stream.add t v;
        add_all vs
  in
  add_all (if listed then 0 :: initial else initial);
  t

let check ?(listed = false) name capacity initial make expect =
  Model.check name ~expect @@ fun () ->
  let t = stream ~listed capacity initial in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t initial actors)

let both name capacity initial make expect =
  check name capacity initial make expect;
  check ~listed:true (name ^ " (listed)") capacity initial make expect

(* The items [in_hand] were taken by tasks that were cancelled before they could continue. *)
let check_back name capacity initial ~in_hand make expect =
  let check listed what =
    Model.check (name ^ what) ~expect @@ fun () ->
    let t = stream ~listed capacity initial in
    let first, processes = make t in
    let processes, actors = start first processes in
    (processes, at_rest t (in_hand @ initial) actors)
  in
  check false "";
  if initial <> [] then check true " (listed)"

let items_come_back () =
  check_back "an item comes back, one takes" 1 [] ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back "x" t 1); Run (take "r" t) ]))
    [ "x=back r=1 []" ];
  check_back "an item comes back, two take" 1 [ 2 ] ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back "x" t 1); Run (take "r" t); Run (take "s" t) ]))
    [ "x=back r=1 s=2 []"; "x=back r=2 s=1 []" ];
  check_back "an item comes back, two try" 1 [ 2 ] ~in_hand:[ 1 ]
    (fun t ->
      ([], [ Run (back "x" t 1); Run (try_take "r" t); Run (try_take "s" t) ]))
    [
      "x=back r=1 s=2 []";
      "x=back r=2 s=1 []";
      "x=back r=2 s=none [1]";
      "x=back r=none s=2 [1]";
    ];
  check_back "an item comes back before the others, one takes all" 3 [ 2; 3 ]
    ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back "x" t 1); Run (drain "r" t) ]))
    [ "x=back r=[1 2 3] []"; "x=back r=[2 3] [1]" ];
  check_back "an item comes back, one waits to take and is cancelled" 1 []
    ~in_hand:[ 1 ]
    (fun t ->
      let r = take "r" t in
      ([ r ], [ Run (back "x" t 1); Cancel r ]))
    [ "r=1 x=back []"; "r=cancelled x=back [1]" ];
  check_back
    "an item comes back, one waits to take and is cancelled, another tries" 1 []
    ~in_hand:[ 1 ]
    (fun t ->
      let r = take "r" t in
      ([ r ], [ Run (back "x" t 1); Run (try_take "s" t); Cancel r ]))
    [
      "r=1 x=back s=none []";
      "r=cancelled x=back s=1 []";
      "r=cancelled x=back s=none [1]";
    ];
  check_back "an item comes back, one comes to take and is cancelled" 1 []
    ~in_hand:[ 1 ]
    (fun t ->
      let r = take "r" t in
      ([], [ Run (back "x" t 1); Run r; Cancel r ]))
    [ "x=back r=1 []"; "x=back r=cancelled [1]" ];
  check_back "two items come back, one tries" 1 [] ~in_hand:[ 1; 2 ]
    (fun t ->
      ([], [ Run (back "x" t 1); Run (back "y" t 2); Run (try_take "r" t) ]))
    [
      "x=back y=back r=1 [2]";
      "x=back y=back r=2 [1]";
      "x=back y=back r=none [1 2]";
      "x=back y=back r=none [2 1]";
    ];
  check_back "two items come back, one waits to take" 1 [] ~in_hand:[ 1; 2 ]
    (fun t -> ([ take "r" t ], [ Run (back "x" t 1); Run (back "y" t 2) ]))
    [ "r=1 x=back y=back [2]"; "r=2 x=back y=back [1]" ];
  check_back "two items come back, one waits to take and is cancelled" 1 []
    ~in_hand:[ 1; 2 ]
    (fun t ->
      let r = take "r" t in
      ([ r ], [ Run (back "x" t 1); Run (back "y" t 2); Cancel r ]))
    [
      "r=1 x=back y=back [2]";
      "r=2 x=back y=back [1]";
      "r=cancelled x=back y=back [1 2]";
      "r=cancelled x=back y=back [2 1]";
    ];
  check_back "an item comes back, then one is added, one takes twice" 1 []
    ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back_then_add "x" t 1 2); Run (take_twice "r" t) ]))
    [ "x=ok r=1,2 []" ];
  check_back "an item comes back, then one is added, one takes" 1 []
    ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back_then_add "x" t 1 2); Run (take "r" t) ]))
    [ "x=ok r=1 [2]" ];
  check_back "an item comes back to a full stream, one adds" 1 [ 2 ]
    ~in_hand:[ 1 ]
    (fun t ->
      ([], [ Run (back "x" t 1); Run (add "a" t [ 3 ]); Run (take "r" t) ]))
    [ "x=back a=ok r=2 [1 3]"; "x=back a=waits r=1 [2]" ];
  check_back "an item comes back to a full stream, one waits to add" 1 [ 2 ]
    ~in_hand:[ 1 ]
    (fun t -> ([ add "a" t [ 3 ] ], [ Run (back "x" t 1); Run (take "r" t) ]))
    [ "a=ok x=back r=2 [1 3]"; "a=waits x=back r=1 [2]" ];
  check_back "an item comes back to a full stream, two wait to add" 1 [ 2 ]
    ~in_hand:[ 1 ]
    (fun t ->
      ( [ add "a" t [ 3 ]; add "b" t [ 4 ] ],
        [ Run (back "x" t 1); Run (drain "r" t) ] ))
    [ "a=ok b=waits x=back r=[1 2] [3]"; "a=ok b=waits x=back r=[2] [1 3]" ];
  check_back "an item comes back, one tries to add, one takes" 1 [ 2 ]
    ~in_hand:[ 1 ]
    (fun t ->
      ([], [ Run (back "x" t 1); Run (try_add "a" t 3); Run (take "r" t) ]))
    [
      "x=back a=full r=1 [2]"; "x=back a=full r=2 [1]"; "x=back a=ok r=2 [1 3]";
    ];
  check_back "an item comes back, close" 1 [] ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back "x" t 1); close t ]))
    [ "x=back [1]" ];
  (* The item can still be taken, but a task may have been told before that there is none. *)
  check_back "an item comes back, close, one takes" 1 [] ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back "x" t 1); close t; Run (take "r" t) ]))
    [ "x=back r=1 []"; "x=back r=closed [1]" ];
  check_back "an item comes back, close then, one takes" 1 [] ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back_then_close "x" t 1); Run (take "r" t) ]))
    [ "x=ok r=1 []" ];
  check_back "an item comes back, one waits to take, close" 1 [] ~in_hand:[ 1 ]
    (fun t ->
      let r = take "r" t in
      ([ r ], [ Run (back "x" t 1); close t; Cancel r ]))
    [ "r=1 x=back []"; "r=cancelled x=back [1]"; "r=closed x=back [1]" ];
  check_back "an item comes back, its task takes, one adds" 1 [] ~in_hand:[ 1 ]
    (fun t -> ([], [ Run (back_then_take "x" t 1); Run (add "a" t [ 2 ]) ]))
    [ "x=1 a=ok [2]" ]

module Described_stream = Described.Make (Streams.Of_one)
module Described_three = Described.Make (Streams.Of_three)
module Described_filled = Described.Make (Streams.Filled)

let () =
  let at_rest t = ignore (content t) in
  Described_stream.some ~at_rest 30;
  Described_three.some ~at_rest 20;
  Described_filled.some ~at_rest 10;
  items_come_back ();
  (* --- Items of one moment, and items that are listed --- *)
  both "two wait to add, one takes all" 2 [ 1; 2 ]
    (fun t ->
      let a = add "a" t [ 3 ] and b = add "b" t [ 4 ] in
      ([ a; b ], [ Run (drain "r" t); Cancel a ]))
    [ "a=cancelled b=ok r=[1 2] [4]"; "a=ok b=ok r=[1 2] [3 4]" ];
  both "add, take all and take" 2 [ 1 ]
    (fun t ->
      let a = add "a" t [ 2 ] in
      ([], [ Run a; Run (drain "r" t); Run (try_take "s" t) ]))
    [
      "a=ok r=[1 2] s=none []";
      "a=ok r=[1] s=2 []";
      "a=ok r=[1] s=none [2]";
      "a=ok r=[2] s=1 []";
      "a=ok r=[] s=1 [2]";
    ];
  check ~listed:true "two take twice, what is listed and what is not" 3 [ 1; 2 ]
    (fun t ->
      let r = take_twice "r" t in
      ([], [ Run r; Run (take "s" t); Run (add "a" t [ 3 ]) ]))
    [ "r=1,2 s=3 a=ok []"; "r=1,3 s=2 a=ok []"; "r=2,3 s=1 a=ok []" ];
  check "two take what is on the stack, one takes all" 3 [ 1; 2 ]
    (fun t ->
      let r = try_take "r" t and s = drain "s" t in
      ([], [ Run r; Run s; Run (add "a" t [ 3 ]) ]))
    [
      "r=1 s=[2 3] a=ok []";
      "r=1 s=[2] a=ok [3]";
      "r=3 s=[1 2] a=ok []";
      "r=none s=[1 2] a=ok [3]";
      "r=none s=[1 2 3] a=ok []";
    ];
  (* --- Closed --- *)
  (* After a close no item is added, whichever task closed first. *)
  let closes name close =
    check name 1 [] (fun t ->
        let a =
          make "a" @@ fun () ->
          if close t then (try_add "b" t 1).work () else "open"
        in
        ([], [ Run a; Do (fun () -> Stream.close t) ]))
  in
  closes "close, close and add"
    (fun t ->
      Stream.close t;
      true)
    [ "a=closed []" ];
  closes "close, see that and add" Stream.is_closed
    [ "a=closed []"; "a=open []" ];
  Model.finish ()
