(* Tasks and threads of two domains force lazy values that need one another. Their
   computations wait, for locks, promises and time; some fail; and who computes or
   waits is cancelled all the time. Each computation is completed once, everybody is
   told the same, and nobody waits for ever; also where values need themselves. *)

open Concord
open Concord_test_support.Race
open Crew

exception Refused of int

type step =
  | Pause
  | Lock of int
  | Gate of int  (** Waits for a promise. *)
  | Need of { other : int; watched : bool; caught : bool }
      (** [watched]: first waits a moment whether others compute it. [caught]:
          goes on if it failed. *)
  | Refuse

(* What is not atomic is used only by the task that computes, and at rest. *)
type node = {
  number : int;
  cancel : Lazy.cancel;
  steps : step list;
  inside : int Atomic.t;
  mutable started : int;
  mutable returned : int;
  mutable got : (int * (int, exn) result) list;
      (** From those that the last run needed, the latest first. *)
  domain : int Atomic.t;  (** Of the last run. *)
}

(* One whose computation goes on after everybody who could be cancelled was. *)
type held = {
  value : unit Lazy.t;
  stayed : Latch.t;  (** Opened by all who are to be cancelled. *)
  release : unit Promise.t;
}

type graph = {
  nodes : node array;
  values : int Lazy.t array;
  mutexes : Mutex.t array;
  gates : unit Promise.t array;
  held : held option;
  reaches : bool array array;
      (** [reaches.(i).(j)]: does the value [i] need [j], directly or not? *)
}

let is_cancellation = function
  | Fifo.Cancelled | Eio.Cancel.Cancelled _ -> true
  | _ -> false

(* --- Asking ------------------------------------------------------------------ *)

(* Takes turns, on any host. *)
let pause () =
  Suspend.suspend (fun resume ->
      ignore (resume (Ok ()) : bool);
      None)

let same a b =
  match (a, b) with
  | Ok v, Ok w -> v = w
  | Error e, Error e' -> e == e'
  | Ok _, Error _ | Error _, Ok _ -> false

let remembers t answer =
  match Lazy.peek t with None -> false | Some seen -> same seen answer

let show = function Ok v -> string_of_int v | Error e -> Printexc.to_string e

(* [answer t want] is what [want ()] said of [t], and [t] remembers. An exception that
   it does not remember is that of a cancelled task, in which every suspension
   raises: so does this one. *)
let answer ?(may_be_undefined = false) t want =
  let told = match want () with v -> Ok v | exception e -> Error e in
  match told with
  | Error Lazy.Undefined when may_be_undefined -> told
  | told when remembers t told -> told
  | Ok _ -> fail "%s is told, but not remembered" (show told)
  | Error _ ->
      pause ();
      fail "%s is told, but not remembered" (show told)

let moment = 0.000_2

let watch_or_force t () =
  Event.select
    [
      Lazy.await_evt t;
      Event.wrap (Event.timeout moment) (fun () -> Lazy.force t);
    ]

let ask crew g =
  let t = any crew g.values in
  let ask want = ignore (answer t want : (int, exn) result) in
  match Random.State.int crew.random 8 with
  | 0 -> ask (fun () -> -Lazy.force (Lazy.map ( ~- ) t))
  | 1 -> ask (watch_or_force t)
  | 2 -> (
      let u = any crew g.values in
      let watch t = Event.wrap (Lazy.await_evt t) (fun v -> (t, v)) in
      match Event.sync_before moment (Event.choose [ watch t; watch u ]) with
      | None -> ()
      | Some (t, v) ->
          if not (remembers t (Ok v)) then fail "an event gave another value"
      | exception e ->
          if not (remembers t (Error e) || remembers u (Error e)) then raise e)
  | _ -> ask (fun () -> Lazy.force t)

(* --- Computing --------------------------------------------------------------- *)

let restarts = Atomic.make 0
let recorded = Atomic.make 0

(* Cycles that went over two domains. *)
let across = Atomic.make 0
let undefined = Atomic.make 0
let this_domain () = (Domain.self () :> int)

let note_undefined g other =
  if not (remembers g.values.(other) (Error Lazy.Undefined)) then begin
    Atomic.incr undefined;
    if Atomic.get g.nodes.(other).domain <> this_domain () then
      Atomic.incr across
  end

let need g node ~watched ~caught other =
  let t = g.values.(other) in
  let want = if watched then watch_or_force t else fun () -> Lazy.force t in
  let may_be_undefined = g.reaches.(other).(node.number) in
  let told =
    match answer ~may_be_undefined t want with
    | told -> told
    | exception e ->
        node.got <- (other, Error e) :: node.got;
        raise e
  in
  node.got <- (other, told) :: node.got;
  match told with
  | Ok v -> v
  | Error Lazy.Undefined ->
      note_undefined g other;
      if caught then 0 else raise Lazy.Undefined
  | Error (Refused _) when caught -> 0
  | Error e -> raise e

let step g node = function
  | Pause ->
      pause ();
      0
  | Lock i ->
      Mutex.protect g.mutexes.(i) pause;
      0
  | Gate i ->
      Promise.await g.gates.(i);
      0
  | Need { other; watched; caught } -> need g node ~watched ~caught other
  | Refuse -> raise (Refused node.number)

let compute g node () =
  if Atomic.fetch_and_add node.inside 1 > 0 then fail "two compute one value";
  Fun.protect ~finally:(fun () -> Atomic.decr node.inside) @@ fun () ->
  if Option.is_some (Lazy.peek g.values.(node.number)) || node.returned > 0 then
    fail "what was computed is computed again";
  if node.started > 0 && node.cancel <> `Restart then
    fail "what must not be restarted is";
  node.started <- node.started + 1;
  node.got <- [];
  Atomic.set node.domain (this_domain ());
  let add sum s = sum + step g node s in
  let v = List.fold_left add (node.number + 1) node.steps in
  node.returned <- node.returned + 1;
  v

(* --- Graphs ------------------------------------------------------------------ *)

let graph_random = random (-1)
let below n = Random.State.int graph_random n
let one_in n = below n = 0
let n_gates = 3
let n_mutexes = 2

let random_steps ~needs =
  let one _ =
    match below 8 with
    | 0 | 1 -> Pause
    | 2 -> Lock (below n_mutexes)
    | 3 -> Gate (below n_gates)
    | 4 -> if one_in 4 then Refuse else Pause
    | _ -> (
        match needs () with
        | None -> Pause
        | Some other -> Need { other; watched = one_in 4; caught = one_in 4 })
  in
  List.init (1 + below 5) one

let any_policy () : Lazy.cancel =
  match below 4 with 0 -> `Record | 1 -> `Protect | _ -> `Restart

let closure n needs =
  let reaches = Array.init n (fun i -> Array.init n (needs i)) in
  for k = 0 to n - 1 do
    for i = 0 to n - 1 do
      for j = 0 to n - 1 do
        if reaches.(i).(k) && reaches.(k).(j) then reaches.(i).(j) <- true
      done
    done
  done;
  reaches

let tasks = 6

let held () =
  let release = Promise.create () in
  {
    value = Lazy.from_fun (fun () -> Promise.await release);
    stayed = Latch.create (2 * tasks);
    release;
  }

(* [needs n i] is the number of one that the value [i] of [n] may need. *)
let random_graph needs =
  let n = 2 + below 9 in
  let node number =
    {
      number;
      cancel = any_policy ();
      steps = random_steps ~needs:(fun () -> needs n number);
      inside = Atomic.make 0;
      started = 0;
      returned = 0;
      got = [];
      domain = Atomic.make (-1);
    }
  in
  let nodes = Array.init n node in
  let is_needed i j =
    List.exists
      (function Need { other; _ } -> other = j | _ -> false)
      nodes.(i).steps
  in
  let g =
    {
      nodes;
      values = Array.make n (Lazy.from_val 0);
      mutexes = Array.init n_mutexes (fun _ -> Mutex.create ());
      gates = Array.init n_gates (fun _ -> Promise.create ());
      held = (if one_in 8 then Some (held ()) else None);
      reaches = closure n is_needed;
    }
  in
  let value node = Lazy.from_fun ~cancel:node.cancel (compute g node) in
  Array.iteri (fun i node -> g.values.(i) <- value node) nodes;
  g

let acyclic _ i = if i = 0 then None else Some (below i)
let cyclic n _ = Some (below n)

(* --- At rest ----------------------------------------------------------------- *)

let check_got g node (other, told) =
  if not (remembers g.values.(other) told) then
    match told with
    | Error Lazy.Undefined when g.reaches.(other).(node.number) -> ()
    | Error e when is_cancellation e && node.cancel = `Record -> ()
    | told -> fail "a computation got %s from another" (show told)

let is_refusal node = function Refused i -> i = node.number | _ -> false

(* What it got is what the others remember, so by induction everything is what it
   must be; and as each value is greater than those that it is made of, there is no
   cycle without an exception. *)
let check_settled g node outcome =
  List.iter (check_got g node) node.got;
  match outcome with
  | Ok v ->
      let add sum (_, told) = sum + Result.value told ~default:0 in
      if node.returned <> 1 then fail "a value, and %d returned" node.returned;
      if v <> List.fold_left add (node.number + 1) node.got then
        fail "a value is not the sum of what it needs"
  | Error e ->
      let is_of_another =
        match node.got with (_, Error e') :: _ -> e == e' | _ -> false
      in
      if node.returned <> 0 then fail "an exception of what returned";
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
    if Lazy.waiters t <> 0 then fail "somebody waits at rest";
    if Atomic.get node.inside <> 0 then fail "somebody computes at rest";
    if node.started > 1 then
      ignore (Atomic.fetch_and_add restarts (node.started - 1) : int);
    Option.iter (check_settled g node) (Lazy.peek t)
  in
  Array.iter check_node g.nodes;
  (* What was cancelled, or nobody wanted: whoever comes has it. *)
  Array.iter force g.values;
  let check_forced node t = check_settled g node (Option.get (Lazy.peek t)) in
  Array.iter2 check_forced g.nodes g.values

(* --- Storms ------------------------------------------------------------------ *)

let stay crew { value; stayed; _ } =
  let wait () =
    Lazy.force value;
    fail "what is held is told"
  in
  ignore (attempt crew wait : unit option);
  Latch.count_down stayed

(* Nobody is left but who is not cancelled, and that one computes it now, or did not
   come yet. Timeouts, not turns: what is cancelled lazily is unwound when nothing else
   is to be done. *)
let rec end_stay crew ({ value; stayed; release } as held) =
  if Latch.count stayed > 0 then begin
    Event.sync (Event.timeout 0.000_05);
    for _ = 1 to 10 do
      cancel_somebody crew
    done;
    end_stay crew held
  end
  else if crew.index = 0 then begin
    if Lazy.waiters value > 0 then fail "who was cancelled still waits";
    if Option.is_some (Lazy.peek value) then fail "what is held is computed";
    Promise.fill release ()
  end

(* Two who are not cancelled: one forces it, the other one only waits for it. *)
let hold crew g =
  let wait { value; _ } =
    if crew.index = 0 then Lazy.force value
    else Event.sync (Lazy.await_evt value)
  in
  Option.iter wait g.held

(* Lets the computations go on. *)
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

(* All begin with each graph at the same time. *)
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

(* Two values that need each other, begun on two domains, which close the cycle at the
   same moment, if both run. *)
let close_together ~times hosts =
  let pair _ =
    let inside = Atomic.make 0 in
    let values = Array.make 2 (Lazy.from_val 0) in
    let compute i () =
      Atomic.incr inside;
      (* Not for ever: the other domain may have to wait for a processor. *)
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
    | told -> fail "%s is told of a cycle" (show told)
  in
  storm hosts (fun crew -> [ (fun () -> Array.iter (force crew) pairs) ])

let () =
  let times = 500 in
  rounds
    (if long then 300 else 4)
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
