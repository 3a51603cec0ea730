open Operation_scene
module Hand = Operation_hand

let many = 3_000

let live_words () =
  Gc.full_major ();
  (Gc.stat ()).live_words

let cancel_one s =
  let w = start s in
  cancel w;
  settle s;
  left w

let cancel_all s n =
  let waiters = start_many s n in
  List.iter cancel waiters;
  settle s;
  List.iter left waiters

(* [many] waits may keep less than one word each, so most of them keep nothing. The measurement
   is repeated, because other threads of the program may allocate meanwhile. *)
let keep_little ~what measure =
  let rec go attempts =
    let before = live_words () in
    let kept = measure () - before in
    if kept >= many then
      if attempts > 1 then go (attempts - 1)
      else Trial.fail "%d %s still keep %d words of memory" many what kept
  in
  go 3

let leaves_nothing ~at_once s =
  let cancel_many n =
    if at_once then cancel_all s n
    else
      for _ = 1 to n do
        cancel_one s
      done
  in
  cancel_many 10;
  keep_little ~what:"cancelled waits" (fun () ->
      cancel_many many;
      live_words ());
  ignore (Sys.opaque_identity s : t)

(* Starts [many] tasks and cancels them, except for every thousandth. *)
let[@inline never] cancel_most s =
  let waiters = start_many s many in
  let live, others = List.partition (fun w -> w.number mod 1_000 = 0) waiters in
  List.iter cancel others;
  settle s;
  List.iter left others;
  live

(* One task waits before them, and three between them. *)
let among_cancelled s =
  keep_little ~what:"cancelled waits between tasks that wait" @@ fun () ->
  let s = s.fresh () in
  let first = start s in
  let live = cancel_most s in
  let words = live_words () in
  List.iter cancel (first :: live);
  settle s;
  words

(* No more releases than are needed, because the structure may keep them. *)
let rec let_all_go s releases = function
  | w :: _ as waiters when waits w && releases > 0 ->
      let_go s 1;
      let_all_go s (releases - 1) waiters
  | _ :: waiters -> let_all_go s releases waiters
  | [] -> ()

let[@inline never] serve_many s =
  let waiters = start_many s many in
  if one_by_one s then let_all_go s many waiters else let_go s many;
  List.iter returned waiters;
  (* The notes aren't the structure's. *)
  List.iter (fun notes -> Atomic.set notes []) [ s.served; s.brought; s.got ]

let leaves_nothing_when_served s =
  keep_little ~what:"served waits" @@ fun () ->
  let s = s.fresh () in
  serve_many s;
  let words = live_words () in
  ignore (Sys.opaque_identity s : t);
  words

let tasks = 3
let rounds = 10

(* The tasks are served equally often. A difference of one is allowed. *)
let takes_turns s =
  only_if s.in_order "it does not promise an order";
  only_if (one_by_one s) "one release lets several tasks continue";
  let turns = Array.make tasks 0 in
  let rec again i =
    wait s;
    turns.(i) <- turns.(i) + 1;
    again i
  in
  let task i = Hand.start s.hand (fun () -> again i) in
  let looping = List.init tasks task in
  for _ = 1 to tasks * rounds do
    release_by_hand s;
    settle s
  done;
  List.iter (fun task -> ignore (Hand.cancel task : bool)) looping;
  settle s;
  let fewest = Array.fold_left min max_int turns in
  let most = Array.fold_left max 0 turns in
  if fewest < rounds - 1 || most > rounds + 1 then
    Trial.fail
      "of %d tasks that wait in a loop, one was served %d times and another %d \
       times"
      tasks fewest most

let memory =
  [
    ("one after the other", leaves_nothing ~at_once:false);
    ("all at once", leaves_nothing ~at_once:true);
    ("some between tasks that wait", among_cancelled);
    ("tasks that were served", leaves_nothing_when_served);
  ]

let fairness = [ ("three tasks", takes_turns) ]
