include Report_types

(* --- Facts about the structures -------------------------------------------------- *)

(* A wait as it was at some moment. *)
type seen = { wait : Waits.t; in_ : (Target.t * Known.t) list }

(* Each structure is asked only once, because many tasks may wait in it. *)
let asking () =
  let asked = Hashtbl.create 16 in
  fun (target : Target.t) (known : Known.t) ->
    let holders =
      match Hashtbl.find_opt asked known.number with
      | Some holders -> holders
      | None ->
          let holders = Known.who_hold target.holders in
          if known.number >= 0 then Hashtbl.add asked known.number holders;
          holders
    in
    Known.with_holders known holders

let see waits =
  let pointer (target : Target.t) = target.structure in
  let targets = List.concat_map (fun (w : Waits.t) -> w.targets) waits in
  let known =
    Known.look_up (Array.of_list (List.map pointer targets)) |> Array.to_seq
  in
  let next = Seq.to_dispenser known and ask = asking () in
  let find target = (target, ask target (Option.get (next ()))) in
  let see (wait : Waits.t) = { wait; in_ = List.map find wait.targets } in
  Array.of_list (List.map see waits)

(* --- Which task holds which structure -------------------------------------------- *)

(* Waits are represented by their indices, and structures by their numbers. A structure that
   was collected has no number. *)
type graph = {
  seen : seen array;
  holding : int list array;
      (** For each structure, the waits of its holders. *)
  held : int list array;
      (** For each wait, the structures that its task holds. *)
  waiting : int list array;  (** For each structure, the waits in it. *)
  needed : int array;
      (** For each structure, how many of its holders have to wait, so that its
          waits are lost. *)
}

let structures { in_; _ } = List.map (fun (_, (k : Known.t)) -> k) in_

let table size numbered =
  let table = Array.make size [] in
  let add (number, item) =
    if number >= 0 then table.(number) <- item :: table.(number)
  in
  List.iter add (List.rev numbered);
  table

let is_certain (holder : Holder.t) =
  Holder.is_held holder && holder.ends <> Perhaps

let graph seen =
  let n = Array.length seen in
  let targets =
    List.concat
      (List.mapi
         (fun i w -> List.map (fun k -> (i, k)) (structures w))
         (Array.to_list seen))
  in
  let size =
    List.fold_left
      (fun size (_, k) -> Int.max size (1 + k.Known.number))
      0 targets
  in
  let waiting =
    table size (List.map (fun (i, k) -> (k.Known.number, i)) targets)
  in
  let was_met = Array.make size false in
  let is_first (_, { Known.number; _ }) =
    number >= 0
    && (not was_met.(number))
    && begin
      was_met.(number) <- true;
      true
    end
  in
  (* If a structure is being handed over, it names the task that gets it. That task waits until
     its resumer is called. It doesn't belong to a cycle because of that, so only tasks that
     really hold count. A holder in whose place another task may end the wait doesn't belong to
     a cycle either. *)
  let first_targets = List.filter is_first targets in
  let holders =
    first_targets
    |> List.concat_map (fun (_, { Known.number; holders; _ }) ->
        List.filter is_certain holders
        |> List.map (fun (h : Holder.t) -> (number, h.by.identity)))
  in
  let tasks =
    Address.numbers
      (Array.append
         (Array.map (fun { wait; _ } -> wait.who.identity) seen)
         (Array.of_list (List.map snd holders)))
  in
  let waits_of =
    table
      (1 + Array.fold_left Int.max (-1) tasks)
      (List.init n (fun i -> (tasks.(i), i)))
  in
  let hold i (structure, _) =
    let task = tasks.(n + i) in
    if task < 0 then []
    else List.map (fun wait -> (structure, wait)) waits_of.(task)
  in
  let hold = List.concat (List.mapi hold holders) in
  let needed = Array.make size 1 in
  List.iter
    (fun (_, { Known.number; holders; _ }) ->
      let is_alone (h : Holder.t) =
        match h.ends with Alone _ -> true | With_others | Perhaps -> false
      in
      if List.exists is_alone holders then
        needed.(number) <- List.length holders)
    first_targets;
  {
    needed;
    seen;
    waiting;
    holding = table size hold;
    held = table n (List.map (fun (structure, wait) -> (wait, structure)) hold);
  }

(* --- Which tasks are lost ---------------------------------------------------------- *)

(* Computes the greatest set of waits such that each of their targets is held by a task of the
   set, or by [needed] of them. If a wait turns out not to be in the set, each structure that
   its task holds has one such holder less. [lost.(i)] is [true] while wait [i] may be in the
   set. *)
let leave_lost { seen; holding; held; waiting; needed } lost =
  let left =
    Array.map
      (fun waits -> List.length (List.filter (Array.get lost) waits))
      holding
  in
  let is_held (k : Known.t) =
    k.number >= 0 && left.(k.number) >= needed.(k.number)
  in
  let stays i =
    (not (List.is_empty seen.(i).in_))
    && List.for_all is_held (structures seen.(i))
  in
  let to_check = Stack.create () in
  let let_go structure =
    left.(structure) <- left.(structure) - 1;
    if left.(structure) = needed.(structure) - 1 then
      List.iter (fun i -> Stack.push i to_check) waiting.(structure)
  in
  let check i =
    if lost.(i) && not (stays i) then begin
      lost.(i) <- false;
      List.iter let_go held.(i)
    end
  in
  Array.iteri (fun i _ -> check i) seen;
  while not (Stack.is_empty to_check) do
    check (Stack.pop to_check)
  done

let next { seen; holding; _ } lost i =
  List.find_map
    (fun (k : Known.t) -> List.find_opt (Array.get lost) holding.(k.number))
    (structures seen.(i))

(* From each lost wait, following [next] leads to exactly one cycle. Each wait is visited once.
   [visited.(i)] is the wait at which the walk started that visited [i]. *)
let cycles graph lost =
  let visited = Array.make (Array.length lost) (-1) in
  let rec walk first path here =
    if visited.(here) = first then
      let rec until_here cycle = function
        | [] -> cycle
        | i :: _ when i = here -> i :: cycle
        | i :: rest -> until_here (i :: cycle) rest
      in
      until_here [] path
    else if visited.(here) >= 0 then []
    else begin
      visited.(here) <- first;
      match next graph lost here with
      | Some there -> walk first (here :: path) there
      | None -> []
    end
  in
  let from i is_lost = if is_lost then walk i [] i else [] in
  Array.to_list (Array.mapi from lost)
  |> List.filter (fun cycle -> not (List.is_empty cycle))

(* --- As values ------------------------------------------------------------------- *)

let task (who : Who.t) : task =
  if Who.is_known who && not (Who.has_ended who) then Task_id.of_who who
  else { id = 0; host = who.host; name = who.name }

(* If a wait began after [now] was read, it has waited for no time. *)
let seconds ~now since =
  Float.max 0. (Int64.to_float (Int64.sub now since) *. 1e-9)

let holder ~now (holder : Holder.t) =
  {
    by = task holder.by;
    domain = holder.by.domain;
    held_for = seconds ~now (Int64.of_int holder.since_ns);
    held_at = holder.held_at;
  }

(* The holders of a structure are converted once, even if many tasks wait in it. *)
let all_holders ~now { seen; waiting; _ } =
  let known = Array.make (Array.length waiting) [] in
  let add { Known.number; holders; _ } =
    if number >= 0 && List.is_empty known.(number) then
      known.(number) <- List.map (holder ~now) holders
  in
  Array.iter (fun seen -> List.iter add (structures seen)) seen;
  known

let target holders ((target : Target.t), { Known.number; name; made_at; _ }) =
  {
    operation = target.operation;
    structure = name;
    state = target.state ();
    made_at;
    holders = (if number < 0 then [] else holders.(number));
  }

let origin ({ parent; forked_at } : Who.origin) =
  { parent = task parent; forked_at }

let wait ~now ~since holders { wait; in_ } =
  {
    number = wait.number;
    task = task wait.who;
    domain = wait.who.domain;
    origin = Option.map origin (Task_id.origin wait.who);
    targets = List.map (target holders) in_;
    waits_for = seconds ~now (since wait);
    waits_at = wait.waits_at;
  }

module Numbers = Set.Make (Int)

(* If a task has waited all the time, it has neither taken nor given back anything meanwhile.
   So facts about different structures fit together, although they were read one after the
   other. *)
let still_wait seen =
  let waiting =
    Numbers.of_list (List.map (fun (w : Waits.t) -> w.number) (Waits.all ()))
  in
  Array.map (fun { wait; _ } -> Numbers.mem wait.number waiting) seen

let began (wait : Waits.t) = wait.begun_ns
let was_woken (wait : Waits.t) = wait.resumed_ns

(* A task that was waiting above may have been woken meanwhile, so it must not be listed twice. *)
let woken_besides waits =
  let waiting =
    Numbers.of_list (List.map (fun (w : Waits.t) -> w.number) waits)
  in
  List.filter
    (fun (w : Waits.t) -> not (Numbers.mem w.number waiting))
    (Waits.resumed ())

let running ~now
    ({ task = who; on_domain; since; waited_at; has_waited; _ } : Waits.running)
    =
  let runs_for = seconds ~now since in
  { task = task who; on_domain; runs_for; waited_at; has_waited }

(* Workers and blocking calls have lengths too, but no name is no use to the reader. *)
let queues () =
  let queue { Measures.kind; name; length; capacity; _ } =
    match length with
    | Some length when name <> "" && length > 0 ->
        Some { queue = name; kind; length; capacity }
    | Some _ | None -> None
  and longest a b = Int.compare b.length a.length in
  List.stable_sort longest (List.filter_map queue (Measures.structures ()))

let now () =
  let now = Mtime_clock.now_ns () in
  let waits = Waits.all () in
  let graph = graph (see (waits @ woken_besides waits)) in
  let lost = still_wait graph.seen in
  leave_lost graph lost;
  let cycles = cycles graph lost in
  let all_holders = all_holders ~now graph and n = List.length waits in
  let all =
    Array.mapi
      (fun i ->
        wait ~now ~since:(if i < n then began else was_woken) all_holders)
      graph.seen
  in
  let in_cycles = Numbers.of_list (List.concat cycles) in
  let is_behind i _ = lost.(i) && not (Numbers.mem i in_cycles) in
  {
    cycles = List.map (List.map (Array.get all)) cycles;
    behind = List.filteri is_behind (Array.to_list all);
    waits = List.filteri (fun i _ -> i < n) (Array.to_list all);
    woken = List.filteri (fun i _ -> i >= n) (Array.to_list all);
    running = List.map (running ~now) (Waits.running ());
    queues = queues ();
  }
