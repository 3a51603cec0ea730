(* Pools. The scenarios below are those of resources that fail, are cleared or aren't valid, and
   of the end. *)

open Actor

(* How many resources, which are numbers, exist, and how many existed at most. *)
type pool = {
  t : int Pool.t;
  exist : int ref;
  most : int ref;
  used : int Pool.lease list ref;
}

let create ?(limit = 1) ?(validate = fun _ -> true) () =
  let exist = ref 0 and most = ref 0 and made = ref 0 in
  let make () =
    incr exist;
    most := Int.max !most !exist;
    incr made;
    !made
  and dispose _ = decr exist in
  { t = Pool.create ~validate ~dispose limit make; exist; most; used = ref [] }

(* A pool whose resources are all in use, but not by any task. So any process may give one
   back. *)
let used ?(limit = 1) () =
  let p = create ~limit () in
  for _ = 1 to limit do
    p.used := Pool.obtain p.t :: !(p.used)
  done;
  p

exception Failed

let use name { t; _ } = make name (fun () -> string_of_int (Pool.use t Fun.id))

let fails name { t; _ } =
  make name @@ fun () ->
  match Pool.use t (fun _ -> raise Failed) with
  | v -> string_of_int v
  | exception Failed -> "failed"

let await name { t; _ } =
  make name @@ fun () ->
  Pool.await_closed t;
  "ended"

let sync_await name { t; _ } =
  make name @@ fun () ->
  Event.sync (Pool.await_closed_evt t);
  "ended"

let lease { used; _ } =
  let lease = List.hd !used in
  used := List.tl !used;
  lease

let give_back p = Pool.give_back ~keep:true (lease p)
let close { t; _ } = Pool.close t
let clear { t; _ } = Pool.clear t

let live_at_rest t =
  let s = Atomic.get t in
  let takers = live s.Pool.takers and enders = live s.rare.enders in
  if takers > 0 && (s.rare.closed || s.idle <> []) then
    failwith "a task waits that could be served";
  if s.rare.closed && (s.idle <> [] || (s.size = 0 && enders > 0)) then
    failwith "it does not end";
  takers + enders

let at_rest { t; exist; most; _ } actors () =
  let s = Atomic.get t in
  all_queued actors [ live_at_rest t ];
  if s.size <> !exist || !most > s.rare.settings.limit then
    failwith
      (Printf.sprintf "size %d, but %d exist, and %d did" s.size !exist !most);
  Printf.sprintf "%s %d/%d" (describe actors) (List.length s.idle) s.size

let check name create make expect =
  Model.check name ~expect @@ fun () ->
  let p = create () in
  let first, processes = make p in
  let processes, actors = start first processes in
  (processes, at_rest p actors)

module Described_pool = Described.Make (Pools.Of_one)

let () =
  Described_pool.some 20 ~at_rest:(fun { pool; _ } ->
      ignore (live_at_rest pool : int));
  Cancellations.check "await_closed" ~service:All
    [ ("", fun _ -> await); (", an event", fun _ -> sync_await) ]
    ~create ~serve:close ~served:"ended"
    ~rest:(fun _ -> " 0/0")
    ~at_rest;
  check "two come for two" (create ~limit:2)
    (fun p -> ([], [ Run (use "a" p); Run (use "b" p) ]))
    [ "a=1 b=1 1/1"; "a=1 b=2 2/2"; "a=2 b=1 2/2" ];
  check "one comes, one fails" create
    (fun p -> ([], [ Run (use "a" p); Run (fails "b" p) ]))
    [ "a=1 b=failed 0/0"; "a=2 b=failed 1/1" ];
  check "one waits and is cancelled, the user fails" create
    (fun p ->
      let lease = Pool.obtain p.t in
      let a = use "a" p in
      ([ a ], [ Do (fun () -> Pool.give_back_after lease Failed); Cancel a ]))
    [ "a=2 1/1"; "a=cancelled 0/0" ];
  check "one waits, it is cleared" used
    (fun p ->
      ([ use "a" p ], [ Do (fun () -> give_back p); Do (fun () -> clear p) ]))
    [ "a=1 0/0"; "a=2 1/1" ];
  check "one waits and is cancelled, it is cleared" used
    (fun p ->
      clear p;
      let a = use "a" p in
      ([ a ], [ Do (fun () -> give_back p); Cancel a ]))
    [ "a=2 1/1"; "a=cancelled 0/0" ];
  check "an idle one, cleared, one comes"
    (fun () ->
      let p = used () in
      give_back p;
      p)
    (fun p -> ([], [ Run (use "a" p); Do (fun () -> clear p) ]))
    [ "a=1 0/0"; "a=2 1/1" ];
  check "one waits for the end, two in use" (used ~limit:2)
    (fun p ->
      close p;
      ( [ await "a" p ],
        [ Do (fun () -> give_back p); Do (fun () -> give_back p) ] ))
    [ "a=ended 0/0" ];
  check "one comes for the end and is cancelled" used
    (fun p ->
      close p;
      let a = await "a" p in
      ([], [ Run a; Cancel a; Do (fun () -> give_back p) ]))
    [ "a=ended 0/0"; "a=cancelled 0/0" ];
  check "none is valid, two come"
    (create ~validate:(fun _ -> false))
    (fun p -> ([], [ Run (use "a" p); Run (use "b" p) ]))
    [ "a=1 b=2 1/1"; "a=2 b=1 1/1" ];
  Model.finish ()
