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

(* [many] cancelled waits may keep less than one word each, so most of them keep nothing. The
   measurement is repeated, because other threads of the program may allocate meanwhile. *)
let leaves_nothing ~at_once s =
  let cancel_many n =
    if at_once then cancel_all s n
    else
      for _ = 1 to n do
        cancel_one s
      done
  in
  let rec measure attempts =
    let before = live_words () in
    cancel_many many;
    let kept = live_words () - before in
    if kept >= many then
      if attempts > 1 then measure (attempts - 1)
      else
        Trial.fail "%d cancelled waits still keep %d words of memory" many kept
  in
  cancel_many 10;
  measure 3;
  ignore (Sys.opaque_identity s : t)

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
  ]

let fairness = [ ("three tasks", takes_turns) ]
