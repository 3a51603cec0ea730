open Concord.Tools

type wait = {
  task : Trace.task;
  domain : int;
  operation : string;
  at : string;
  since_ns : int;
}

type group = {
  tasks : (int * int, unit) Hashtbl.t;
  mutable suspended : int;
  mutable resumed : int;
  mutable shown_suspended : int;  (** In tables before. *)
  mutable shown_resumed : int;
}

(* The rings of domains are read one after the other: a task may be seen to go on before it
   is seen to wait. *)
type t = {
  groups : (string * int, group) Hashtbl.t;
  seen_in : (int * int, group) Hashtbl.t;  (** Where each task was seen last. *)
  waits : (int * int, wait) Hashtbl.t;
  resumed_first : (int * int, unit) Hashtbl.t;
  mutable number : int;
}

let create () =
  {
    groups = Hashtbl.create 10;
    seen_in = Hashtbl.create 100;
    waits = Hashtbl.create 100;
    resumed_first = Hashtbl.create 10;
    number = 0;
  }

let number t = t.number

let group t (task : Trace.task) domain =
  let host = if task.host = "" then "thread" else task.host in
  match Hashtbl.find_opt t.groups (host, domain) with
  | Some group -> group
  | None ->
      let group =
        {
          tasks = Hashtbl.create 10;
          suspended = 0;
          resumed = 0;
          shown_suspended = 0;
          shown_resumed = 0;
        }
      in
      Hashtbl.replace t.groups (host, domain) group;
      group

let leaves t key =
  Option.iter
    (fun group -> Hashtbl.remove group.tasks key)
    (Hashtbl.find_opt t.seen_in key);
  Hashtbl.remove t.seen_in key

(* A job of a pool goes on in any domain. *)
let enters t key group =
  leaves t key;
  Hashtbl.replace t.seen_in key group;
  Hashtbl.replace group.tasks key ()

let add t Recorder.{ pid; time_ns; event } =
  t.number <- t.number + 1;
  match event with
  | Suspended { wait; task; domain; operation; at; _ } ->
      let group = group t task domain in
      group.suspended <- group.suspended + 1;
      if Timeline.is_known task then enters t (pid, task.id) group;
      if Hashtbl.mem t.resumed_first (pid, wait) then
        Hashtbl.remove t.resumed_first (pid, wait)
      else
        Hashtbl.replace t.waits (pid, wait)
          { task; domain; operation; at; since_ns = time_ns }
  | Resumed { wait; task; domain; _ } ->
      let group = group t task domain in
      group.resumed <- group.resumed + 1;
      if Timeline.is_known task then enters t (pid, task.id) group;
      if Hashtbl.mem t.waits (pid, wait) then Hashtbl.remove t.waits (pid, wait)
      else Hashtbl.replace t.resumed_first (pid, wait) ()
  | Forked { task; domain; _ } -> enters t (pid, task.id) (group t task domain)
  | Ended { task; _ } -> leaves t (pid, task.id)
  | Began _ | Woken _ | Queue _ | Mark _ -> ()

let of_table table = List.of_seq (Hashtbl.to_seq table)

let waiting t key =
  List.length
    (List.filter
       (fun (_, { task; domain; _ }) ->
         ((if task.host = "" then "thread" else task.host), domain) = key)
       (of_table t.waits))

let longest t n =
  List.map snd (of_table t.waits)
  |> List.sort (fun a b -> Int.compare a.since_ns b.since_ns)
  |> List.filteri (fun i _ -> i < n)

let wait_text ~now_ns { task; operation; at; since_ns; _ } =
  Printf.sprintf "%8.2f s  %-28s %-20s %s"
    (float_of_int (Int.max 0 (now_ns - since_ns)) *. 1e-9)
    (Timeline.label task)
    (if operation = "" then "-" else operation)
    at

let per_second n since = if since > 0. then float_of_int n /. since else 0.

let reset t =
  Hashtbl.iter
    (fun _ group ->
      group.shown_suspended <- group.suspended;
      group.shown_resumed <- group.resumed)
    t.groups

let from_the_start t =
  Hashtbl.iter
    (fun _ group ->
      group.shown_suspended <- 0;
      group.shown_resumed <- 0)
    t.groups

let suspended group = group.suspended - group.shown_suspended
let resumed group = group.resumed - group.shown_resumed
let most_waits = 5
let compare_keys (a, _) (b, _) = compare a b

let table ?(at_most = max_int) t ~now_ns ~since =
  let all = List.sort compare_keys (of_table t.groups) in
  let waits = List.map (wait_text ~now_ns) (longest t most_waits) in
  let room = Int.max 1 (at_most - most_waits - 3) in
  let shown = List.filteri (fun i _ -> i < room) all in
  let width =
    List.fold_left
      (fun width ((host, _), _) -> Int.max width (String.length host))
      16 shown
  in
  let row (((host, domain) as key), group) =
    Printf.sprintf "  %-*s %6d %7d %8d %12.1f %12.1f" width host domain
      (Hashtbl.length group.tasks)
      (waiting t key)
      (per_second (suspended group) since)
      (per_second (resumed group) since)
  in
  let head =
    Printf.sprintf "  %-*s %6s %7s %8s %12s %12s" width "host" "domain" "tasks"
      "waiting" "suspended/s" "resumed/s"
  and others =
    match List.length all - List.length shown with
    | 0 -> []
    | n -> [ Printf.sprintf "  and %d more" n ]
  in
  let rows = List.map row shown in
  reset t;
  (head :: rows) @ others
  @ if List.is_empty waits then [] else "  longest waits" :: waits

let line t ~now_ns ~since =
  let sum f = Hashtbl.fold (fun _ group n -> n + f group) t.groups 0 in
  let suspended = sum suspended and resumed = sum resumed in
  reset t;
  Printf.sprintf "%d wait, %.1f suspended/s, %.1f resumed/s%s"
    (Hashtbl.length t.waits)
    (per_second suspended since)
    (per_second resumed since)
    (match longest t 1 with
    | [] -> ""
    | wait :: _ -> "; longest: " ^ String.trim (wait_text ~now_ns wait))
