open Concord.Tools

type place = { operation : string; structure : string; line : string }
type task = { pid : int; id : int }

(* The window is the time since the last snapshot. *)
type at_place = {
  mutable waiting_now : int;
  mutable woken_ : int;
  mutable ended : int;
  mutable ended_ns : int;
  mutable holds : int;
  mutable held_ns : int;
  mutable place_seen_ns : int;
  mutable longest_since_ns : int;  (** For {!snapshot}. *)
  wakers_ : (string, int) Hashtbl.t;
}

module Places = Map.Make (struct
  type t = place

  let compare = compare
end)

type wait = {
  of_task : task;
  in_ : place;
  at_ : at_place;  (** Of [in_]. *)
  since_ns : int;
  mutable woken_ns : int option;
}

type of_task = {
  mutable name_ : string;
  mutable domain_ : int;
  mutable wait_ : wait option;
  mutable state_since_ns : int;
  mutable holds_since : (place * int) list;
      (** Where it has continued after a wait, and has woken no task since. *)
  mutable resumed_ : int;
  mutable woke_ : int;
  mutable waited_ns : int;  (** Of waits that have ended in the window. *)
  mutable task_seen_ns : int;
  mutable places_ : int Places.t;
  mutable number_of_places : int;
}

(* The rings of the domains are read one after the other. So a wait's end may be read before its
   beginning. *)
type early = {
  mutable early_woken : (int * string * task) option;
  mutable early_end : int option;
  early_ns : int;
}

type t = {
  places : (place, at_place) Hashtbl.t;
  tasks : (task, of_task) Hashtbl.t;
  waits : (int * int, wait) Hashtbl.t;
      (** By the process and the number of the wait. *)
  early : (int * int, early) Hashtbl.t;
  past : (int * int, wait * of_task * int) Hashtbl.t;
      (** Waits that have ended, and were not woken yet as far as is known. *)
  lost_until : (int, int) Hashtbl.t;
  mutable window_ns : int;
  mutable has_snapshot : bool;
  mutable newest_ns : int;
}

type place_row = {
  place : place;
  waiting : int;
  longest : float;
  wakes : float;
  wait : float option;
  hold : float option;
}

type state = Waits of place | Woken of place | Runs

type task_row = {
  task : task;
  name : string;
  domain : int;
  state : state;
  for_ : float;
  resumed : float;
  woke : float;
  waited : float;
}

type snapshot = { places : place_row list; tasks : task_row list; unsure : int }

let create () =
  {
    places = Hashtbl.create 16;
    tasks = Hashtbl.create 16;
    waits = Hashtbl.create 16;
    early = Hashtbl.create 16;
    past = Hashtbl.create 16;
    lost_until = Hashtbl.create 1;
    window_ns = max_int;
    has_snapshot = false;
    newest_ns = 0;
  }

let found table key make =
  match Hashtbl.find_opt table key with
  | Some value -> value
  | None ->
      let value = make () in
      Hashtbl.replace table key value;
      value

(* A server may have a task for each request, and each may wake others at one place, or wait at
   many places. *)
let most_counted = 1_000
let others = "others"

let count_waker table name =
  let name =
    if Hashtbl.mem table name || Hashtbl.length table < most_counted then name
    else others
  in
  let before = Option.value (Hashtbl.find_opt table name) ~default:0 in
  Hashtbl.replace table name (before + 1)

let count_place of_task place =
  let place =
    if
      of_task.number_of_places < most_counted
      || Places.mem place of_task.places_
    then place
    else { operation = others; structure = ""; line = "" }
  in
  let add = function
    | Some n -> Some (n + 1)
    | None ->
        of_task.number_of_places <- of_task.number_of_places + 1;
        Some 1
  in
  of_task.places_ <- Places.update place add of_task.places_

let at_place (t : t) place =
  found t.places place (fun () ->
      {
        waiting_now = 0;
        woken_ = 0;
        ended = 0;
        ended_ns = 0;
        holds = 0;
        held_ns = 0;
        place_seen_ns = 0;
        longest_since_ns = max_int;
        wakers_ = Hashtbl.create 4;
      })

let of_task (t : t) task ~ns =
  found t.tasks task (fun () ->
      {
        name_ = "";
        domain_ = 0;
        wait_ = None;
        state_since_ns = ns;
        holds_since = [];
        resumed_ = 0;
        woke_ = 0;
        waited_ns = 0;
        task_seen_ns = ns;
        places_ = Places.empty;
        number_of_places = 0;
      })

let seen t pid ({ id; _ } as told : Trace.task) ~domain ~ns =
  let task = { pid; id } in
  let of_task = of_task t task ~ns in
  of_task.name_ <- Timeline.label told;
  of_task.domain_ <- domain;
  of_task.task_seen_ns <- Int.max of_task.task_seen_ns ns;
  (task, of_task)

(* --- Waits ---------------------------------------------------------------------- *)

(* A wait that began before the window counts in it only since the window began. *)
let within t ~since ~until = Int.max 0 (until - Int.max since t.window_ns)

let is_current of_task wait =
  match of_task.wait_ with Some current -> current == wait | None -> false

let forget_wait t key wait =
  if Hashtbl.mem t.waits key then begin
    Hashtbl.remove t.waits key;
    wait.at_.waiting_now <- wait.at_.waiting_now - 1
  end

let woken (t : t) wait ~by ~by_task ~ns =
  let place = wait.at_ in
  wait.woken_ns <- Some ns;
  place.woken_ <- place.woken_ + 1;
  place.place_seen_ns <- ns;
  count_waker place.wakers_ by;
  match Hashtbl.find_opt t.tasks by_task with
  | None -> ()
  | Some waker -> (
      match List.assoc_opt wait.in_ waker.holds_since with
      | Some since_ns when ns >= since_ns ->
          place.holds <- place.holds + 1;
          place.held_ns <- place.held_ns + ns - since_ns;
          waker.holds_since <- List.remove_assoc wait.in_ waker.holds_since
      | Some _ | None -> ())

(* A task that waits in more places than this without waking anybody there holds none of them. *)
let most_held = 16

let may_hold of_task in_ ~ns =
  of_task.holds_since <-
    (in_, ns) :: List.remove_assoc in_ of_task.holds_since
    |> List.filteri (fun i _ -> i < most_held)

let ended (t : t) key wait of_task ~ns =
  forget_wait t key wait;
  let place = wait.at_ in
  place.ended <- place.ended + 1;
  place.ended_ns <- place.ended_ns + Int.max 0 (ns - wait.since_ns);
  place.place_seen_ns <- ns;
  of_task.resumed_ <- of_task.resumed_ + 1;
  of_task.waited_ns <-
    of_task.waited_ns + within t ~since:wait.since_ns ~until:ns;
  if wait.woken_ns <> None then may_hold of_task wait.in_ ~ns
  else Hashtbl.replace t.past key (wait, of_task, ns);
  if is_current of_task wait then begin
    of_task.wait_ <- None;
    of_task.state_since_ns <- ns
  end

let suspended t key task of_task in_ ~ns =
  let place = at_place t in_ in
  let wait =
    { of_task = task; in_; at_ = place; since_ns = ns; woken_ns = None }
  in
  place.place_seen_ns <- ns;
  count_place of_task in_;
  Hashtbl.replace t.waits key wait;
  place.waiting_now <- place.waiting_now + 1;
  of_task.wait_ <- Some wait;
  of_task.state_since_ns <- ns;
  match Hashtbl.find_opt t.early key with
  | None -> ()
  | Some { early_woken; early_end; _ } ->
      Hashtbl.remove t.early key;
      Option.iter
        (fun (ns, by, by_task) -> woken t wait ~by ~by_task ~ns)
        early_woken;
      Option.iter (fun ns -> ended t key wait of_task ~ns) early_end

let early t key ~ns =
  found t.early key (fun () ->
      { early_woken = None; early_end = None; early_ns = ns })

(* If a structure has a name, waits of all lines there are one place. *)
let place_of ~operation ~structure ~at =
  { operation; structure; line = (if structure = "" then at else "") }

let told t pid ns = function
  | Trace.Suspended { wait; task; domain; operation; structure; at } ->
      let task, of_task = seen t pid task ~domain ~ns in
      suspended t (pid, wait) task of_task
        (place_of ~operation ~structure ~at)
        ~ns
  | Woken { wait; by; domain; _ } -> (
      let by_task, waker = seen t pid by ~domain ~ns in
      waker.woke_ <- waker.woke_ + 1;
      let key = (pid, wait) in
      match (Hashtbl.find_opt t.waits key, Hashtbl.find_opt t.past key) with
      | Some wait, _ -> woken t wait ~by:waker.name_ ~by_task ~ns
      | None, Some (wait, of_task, end_ns) ->
          Hashtbl.remove t.past key;
          woken t wait ~by:waker.name_ ~by_task ~ns;
          may_hold of_task wait.in_ ~ns:end_ns
      | None, None ->
          (early t key ~ns).early_woken <- Some (ns, waker.name_, by_task))
  | Resumed { wait; task; domain; _ } -> (
      let _, of_task = seen t pid task ~domain ~ns in
      match Hashtbl.find_opt t.waits (pid, wait) with
      | Some found -> ended t (pid, wait) found of_task ~ns
      | None -> (early t (pid, wait) ~ns).early_end <- Some ns)
  | Forked { task; domain; _ } ->
      ignore (seen t pid task ~domain ~ns : task * of_task)
  | Ended { task; _ } -> Hashtbl.remove t.tasks { pid; id = task.id }
  | Began _ | Queue _ | Mark _ -> ()

let add t { Recorder.pid; time_ns; event } =
  if not t.has_snapshot then t.window_ns <- Int.min t.window_ns time_ns;
  t.newest_ns <- Int.max t.newest_ns time_ns;
  match event with
  | Told event -> told t pid time_ns event
  | Lost _ -> Hashtbl.replace t.lost_until pid time_ns
  | Paused _ -> ()

(* --- Snapshots --------------------------------------------------------------------- *)

let late_ns = 3_000_000_000

(* If a server has a task for each request, those of a minute would be too many. *)
let most_idle = 20_000

let idle_ns (t : t) =
  if Hashtbl.length t.tasks - Hashtbl.length t.waits > most_idle then late_ns
  else 60_000_000_000

(* If a task does something later, or has ended, its wait is over, although the end was lost. *)
let is_stale (t : t) wait =
  match Hashtbl.find_opt t.tasks wait.of_task with
  | None -> true
  | Some of_task -> not (is_current of_task wait)

let forget (t : t) =
  let idle_ns = idle_ns t in
  let is_older ns than_ns = ns < t.newest_ns - than_ns in
  let stale =
    Hashtbl.fold
      (fun key wait stale ->
        if is_stale t wait && is_older wait.since_ns late_ns then
          (key, wait) :: stale
        else stale)
      t.waits []
  in
  List.iter (fun (key, wait) -> forget_wait t key wait) stale;
  Hashtbl.filter_map_inplace
    (fun _ early ->
      if is_older early.early_ns late_ns then None else Some early)
    t.early;
  Hashtbl.filter_map_inplace
    (fun _ ((_, _, end_ns) as past) ->
      if is_older end_ns late_ns then None else Some past)
    t.past;
  Hashtbl.filter_map_inplace
    (fun _ place ->
      if place.waiting_now = 0 && is_older place.place_seen_ns idle_ns then None
      else Some place)
    t.places;
  Hashtbl.filter_map_inplace
    (fun _ of_task ->
      if of_task.wait_ = None && is_older of_task.task_seen_ns idle_ns then None
      else Some of_task)
    t.tasks

let newest_ns t = t.newest_ns
let seconds ns = float ns *. 1e-9
let mean ns n = if n = 0 then None else Some (seconds ns /. float n)
let rate n window = if window > 0. then float n /. window else 0.

let snapshot (t : t) ~now_ns =
  forget t;
  let window_ns = Int.max 1 (now_ns - t.window_ns) in
  let window = seconds window_ns in
  let since ns = seconds (Int.max 0 (now_ns - ns)) in
  let unsure = ref 0 in
  Hashtbl.iter
    (fun (pid, _) wait ->
      wait.at_.longest_since_ns <-
        Int.min wait.at_.longest_since_ns wait.since_ns;
      match Hashtbl.find_opt t.lost_until pid with
      | Some lost_ns when wait.since_ns < lost_ns -> incr unsure
      | Some _ | None -> ())
    t.waits;
  let place_row (place, at) =
    {
      place;
      waiting = at.waiting_now;
      longest =
        (if at.longest_since_ns = max_int then 0. else since at.longest_since_ns);
      wakes = rate at.woken_ window;
      wait = mean at.ended_ns at.ended;
      hold = mean at.held_ns at.holds;
    }
  and task_row (task, of_task) =
    let state, waits_ns =
      match of_task.wait_ with
      | None -> (Runs, 0)
      | Some { in_; since_ns; woken_ns; _ } ->
          ( (match woken_ns with None -> Waits in_ | Some _ -> Woken in_),
            within t ~since:since_ns ~until:now_ns )
    in
    {
      task;
      name = of_task.name_;
      domain = of_task.domain_;
      state;
      for_ =
        (match of_task.wait_ with
        | Some { woken_ns = Some ns; _ } -> since ns
        | Some _ | None -> since of_task.state_since_ns);
      resumed = rate of_task.resumed_ window;
      woke = rate of_task.woke_ window;
      waited =
        Float.min 1. (float (of_task.waited_ns + waits_ns) /. float window_ns);
    }
  in
  let rows table row = List.map row (List.of_seq (Hashtbl.to_seq table)) in
  let places = rows t.places place_row and tasks = rows t.tasks task_row in
  Hashtbl.iter
    (fun _ at ->
      at.woken_ <- 0;
      at.ended <- 0;
      at.ended_ns <- 0;
      at.holds <- 0;
      at.held_ns <- 0;
      at.longest_since_ns <- max_int)
    t.places;
  Hashtbl.iter
    (fun _ of_task ->
      of_task.resumed_ <- 0;
      of_task.woke_ <- 0;
      of_task.waited_ns <- 0)
    t.tasks;
  t.window_ns <- now_ns;
  t.has_snapshot <- true;
  { places; tasks; unsure = !unsure }

let most_frequent counts =
  List.of_seq counts
  |> List.sort (fun (a, n) (b, m) ->
      match Int.compare m n with 0 -> compare a b | order -> order)

let wakers (t : t) place =
  match Hashtbl.find_opt t.places place with
  | None -> []
  | Some { wakers_; _ } -> most_frequent (Hashtbl.to_seq wakers_)

let waits_of (t : t) task =
  match Hashtbl.find_opt t.tasks task with
  | None -> []
  | Some { places_; _ } -> most_frequent (Places.to_seq places_)
