(* Tasks and threads of two domains force lazy values that need each other. The computations
   wait for locks, promises and time, and some fail. Tasks that compute or wait are cancelled
   all the time. Each computation is completed once, all tasks get the same result, and no task
   waits forever. This also holds if values need themselves. *)

open Concord
open Concord_test_support.Race
open Crew
open Lazy_graph

(* --- At rest ----------------------------------------------------------------- *)

let check_got g node (other, told) =
  if not (remembers g.values.(other) told) then
    match told with
    | Error Lazy.Undefined when g.reaches.(other).(node.number) -> ()
    | Error e when is_cancellation e && node.cancel = `Record -> ()
    | told -> fail "a computation got %s from another" (show told)

let is_refusal node = function Refused i -> i = node.number | _ -> false

(* This computation got the same results that the other values remember. So, by induction,
   every value is what it must be. Each value is greater than those that it is made of, so
   there can't be a cycle without an exception. *)
let check_settled g node outcome =
  List.iter (check_got g node) node.got;
  match outcome with
  | Ok v ->
      let add sum (_, told) = sum + Result.value told ~default:0 in
      if node.returned <> 1 then fail "a value, and %d returned" node.returned;
      if v <> List.fold_left add (node.number + 1) node.got then
        fail "a value is not the sum of those that it needs"
  | Error e ->
      let is_of_another =
        match node.got with (_, Error e') :: _ -> e == e' | _ -> false
      in
      if node.returned <> 0 then fail "it has an exception, but returned";
      if is_cancellation e && not is_of_another then Atomic.incr recorded;
      if
        not
          (is_of_another || is_refusal node e
          || (is_cancellation e && node.cancel = `Record))
      then fail "%s is remembered" (Printexc.to_string e)

let check g =
  let force t = ignore (answer t (fun () -> Lazy.force t)) in
  let check_node node =
    let t = g.values.(node.number) in
    if Lazy.waiters t <> 0 then fail "a task waits at rest";
    if Atomic.get node.inside <> 0 then fail "a task computes at rest";
    if node.started > 1 then
      ignore (Atomic.fetch_and_add restarts (node.started - 1) : int);
    Option.iter (check_settled g node) (Lazy.peek t)
  in
  Array.iter check_node g.nodes;
  (* A value that was cancelled or never wanted can still be forced. *)
  Array.iter force g.values;
  let check_forced node t = check_settled g node (Option.get (Lazy.peek t)) in
  Array.iter2 check_forced g.nodes g.values

(* --- Storms ------------------------------------------------------------------ *)

let stay crew { value; stayed; _ } =
  let wait () =
    Lazy.force value;
    fail "a held value was returned"
  in
  ignore (attempt crew wait : unit option);
  Latch.count_down stayed

(* Only the two tasks of [hold] remain. The one that forces the value computes it now, or hasn't
   come yet, so at most the other one waits. This waits for a timeout instead of a turn, because
   a lazily cancelled task is unwound only when nothing else is ready. *)
let rec end_stay crew ({ value; stayed; release } as held) =
  if Latch.count stayed > 0 then begin
    Event.sync (Event.timeout 0.000_05);
    for _ = 1 to 10 do
      cancel_somebody crew
    done;
    end_stay crew held
  end
  else if crew.index = 0 then begin
    if Lazy.waiters value > 1 then fail "a cancelled task still waits";
    if Option.is_some (Lazy.peek value) then fail "a held value was computed";
    Promise.fill release ()
  end

(* Two tasks aren't cancelled. One forces the value, and the other only waits for it. *)
let hold crew g =
  let wait { value; _ } =
    if crew.index = 0 then Lazy.force value
    else Event.sync (Lazy.await_evt value)
  in
  Option.iter wait g.held

(* Lets the computations continue. *)
let help crew g =
  let open_gate gate =
    (match Random.State.int crew.random 4 with
    | 0 -> Event.sync (Event.timeout moment)
    | 1 -> ()
    | _ -> pause ());
    ignore (Promise.try_fill gate () : bool);
    for _ = 1 to 3 do
      cancel_somebody crew;
      pause ()
    done
  in
  Array.iter open_gate g.gates;
  Option.iter (end_stay crew) g.held

let asks crew g =
  Option.iter (stay crew) g.held;
  for _ = 1 to 3 do
    let ask () = ask crew g in
    if at_random crew 3 then insist crew ask
    else ignore (attempt crew ask : unit option)
  done

let in_thread crew f () =
  let random = Random.State.split crew.random in
  let ended = Promise.create () in
  let work () =
    f { crew with random };
    Promise.fill ended ()
  in
  let thread = Thread.create work () in
  Promise.await ended;
  Thread.join thread

(* All tasks begin with each graph at the same time. *)
let storm_of_values needs ~times hosts =
  let graphs = Array.init times (fun _ -> random_graph needs) in
  let barrier = Barrier.create (2 * (tasks + 3)) in
  let with_each work crew =
    let work g =
      Barrier.await barrier;
      work crew g
    in
    Array.iter work graphs
  in
  let all crew =
    in_thread crew (with_each ask)
    :: (fun () -> with_each help crew)
    :: (fun () -> with_each hold crew)
    :: List.init tasks (fun _ () -> with_each asks crew)
  in
  let tally = storm hosts all in
  Array.iter check graphs;
  tally

(* Two values that need each other begin on two domains. If both run, they close the cycle at
   the same moment. *)
let close_together ~times hosts =
  let pair _ =
    let inside = Atomic.make 0 in
    let values = Array.make 2 (Lazy.from_val 0) in
    let compute i () =
      Atomic.incr inside;
      (* It doesn't spin forever, because the other domain may have to wait for a processor. *)
      let spins = ref 5_000 in
      while Atomic.get inside < 2 && !spins > 0 do
        decr spins;
        Domain.cpu_relax ()
      done;
      1 + Lazy.force values.(1 - i)
    in
    Array.iteri (fun i _ -> values.(i) <- Lazy.from_fun (compute i)) values;
    values
  in
  let pairs = Array.init times pair in
  let force crew values =
    let t = values.(crew.index) in
    crew.attempts <- crew.attempts + 1;
    match answer t (fun () -> Lazy.force t) with
    | Error Lazy.Undefined -> ()
    | told -> fail "%s was returned for a cycle" (show told)
  in
  storm hosts (fun crew -> [ (fun () -> Array.iter (force crew) pairs) ])

let () =
  let times = 500 in
  rounds
    (if long then 300 else 2)
    [
      ("lazy", storm_of_values acyclic ~times);
      ("lazy, cycles", storm_of_values cyclic ~times);
      ("lazy, pairs", close_together ~times:1_500);
    ];
  let must_occur (what, n) =
    Printf.printf "%s: %d\n" what (Atomic.get n);
    if Atomic.get n = 0 then fail "this never occurred: %s" what
  in
  List.iter must_occur
    [
      ("restarts", restarts);
      ("cancellations that are remembered", recorded);
      ("Undefined", undefined);
      ("of these, over two domains", across);
    ]
