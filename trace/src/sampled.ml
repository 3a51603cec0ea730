open Concord.Tools

type size = int

(* Of what may be sampled. [size] is a time, up to a factor of 4. *)
type kind =
  | Wait of {
      pid : int;
      tasks : string;
      operation : string;
      structure : string;
      at : string;
      outcome : Trace.outcome;
      size : size;
    }
  | Pause of int * int * Recorder.pause * size
  | Queue of int * int * string
  | Mark of int * string
  | Loss of int * int

(* Items that stay or go together, for example those of a wait. [worth] decides which unit of a
   kind stays. The fork of its task isn't counted, because several units may have the same. *)
type unit_ = {
  kind : kind option;  (** [None] is left out where time isn't complete. *)
  from : int;  (** A segment. *)
  until : int;
  worth : int;
  items : Recorder.item list;
  fork : Recorder.item option;
  stands_for : int;
}

type open_ = { begun : Recorder.item; mutable woken : Recorder.item option }

(* Segments are counted from [base] on, and [stride] of them are a group. *)
type t = {
  width_ns : int;
  mutable base : int option;
  mutable stride : int;
  mutable whole : unit_ list;  (** Those of complete segments. *)
  mutable rest : (int * kind, unit_) Hashtbl.t;  (** By group and kind. *)
  mutable left_out : (int, int) Hashtbl.t;
      (** How many items of each group were left out. *)
  mutable number : int;  (** Of the items in [whole] and [rest]. *)
  mutable last : int;
  mutable cut_ns : int option;
  programs : (int, Recorder.item) Hashtbl.t;
  forks : (int * int, Recorder.item) Hashtbl.t;
      (** By process and task, until the task ends. *)
  waits : (int * int, open_) Hashtbl.t;  (** By process and number. *)
  waiting : (int * int, int) Hashtbl.t;
      (** The number of each task's open wait. *)
}

let create ~width_ns =
  {
    width_ns;
    base = None;
    stride = 1;
    whole = [];
    rest = Hashtbl.create 100;
    left_out = Hashtbl.create 10;
    number = 0;
    last = 0;
    cut_ns = None;
    programs = Hashtbl.create 1;
    forks = Hashtbl.create 100;
    waits = Hashtbl.create 100;
    waiting = Hashtbl.create 100;
  }

(* --- Units --------------------------------------------------------------------- *)

let count = List.length
let rec size_of ns = if ns < 4 then 0 else 1 + size_of (ns / 4)
let base t = Option.value t.base ~default:0
let is_whole t segment = (segment - base t) mod t.stride = 0
let group t segment = (segment - base t) / t.stride

let leave_out t group n =
  let before = Option.value (Hashtbl.find_opt t.left_out group) ~default:0 in
  Hashtbl.replace t.left_out group (before + n)

let loss (a : Recorder.item) (b : Recorder.item) =
  match (a.event, b.event) with
  | Lost a_, Lost b_ ->
      let since_ns = Int.min a_.since_ns b_.since_ns
      and bytes = a_.bytes + b_.bytes in
      {
        (if a.time_ns > b.time_ns then a else b) with
        event = Lost { a_ with since_ns; bytes };
      }
  | _ -> a

(* Losses are one loss together, because a wait that is open at any of them may have ended. *)
let joined a b =
  let stands_for = a.stands_for + b.stands_for in
  match (a.kind, a.items, b.items) with
  | Some (Loss _), [ one ], [ other ] ->
      let from = Int.min a.from b.from and until = Int.max a.until b.until in
      { a with from; until; items = [ loss one other ]; stands_for }
  | _ -> { (if b.worth > a.worth then b else a) with stands_for }

(* A wait is complete if either of its ends is, because the drawing of the task needs it. *)
let insert t unit_ =
  let n = count unit_.items in
  if is_whole t unit_.from || is_whole t unit_.until then begin
    t.whole <- unit_ :: t.whole;
    t.number <- t.number + n
  end
  else
    let group = group t unit_.until in
    match unit_.kind with
    | None -> leave_out t group n
    | Some kind -> (
        match Hashtbl.find_opt t.rest (group, kind) with
        | None ->
            Hashtbl.replace t.rest (group, kind) unit_;
            t.number <- t.number + n
        | Some other ->
            let kept = joined other unit_ in
            let n_kept = count kept.items in
            Hashtbl.replace t.rest (group, kind) kept;
            leave_out t group (n + count other.items - n_kept);
            t.number <- t.number + n_kept - count other.items)

let units t =
  List.rev_append t.whole (List.of_seq (Hashtbl.to_seq_values t.rest))

let replace t units =
  t.whole <- [];
  t.rest <- Hashtbl.create 100;
  t.number <- 0;
  List.iter (insert t) units

let double t =
  let units = units t and left_out = t.left_out in
  t.left_out <- Hashtbl.create 10;
  t.stride <- 2 * t.stride;
  Hashtbl.iter (fun group n -> leave_out t (group / 2) n) left_out;
  replace t units

(* --- Items ----------------------------------------------------------------------- *)

let segment t (item : Recorder.item) = item.time_ns / t.width_ns

let alone t ?kind ?(worth = 0) ?(keeps = true) (item : Recorder.item) =
  if keeps then
    let n = segment t item in
    insert t
      {
        kind;
        from = n;
        until = n;
        worth;
        items = [ item ];
        fork = None;
        stands_for = 1;
      }

(* The end of this wait was not seen. *)
let end_unseen t ~keeps key =
  match Hashtbl.find_opt t.waiting key with
  | None -> ()
  | Some number -> (
      Hashtbl.remove t.waiting key;
      let wait = (fst key, number) in
      match Hashtbl.find_opt t.waits wait with
      | None -> ()
      | Some { begun; woken } ->
          Hashtbl.remove t.waits wait;
          alone t ~keeps begun;
          Option.iter (alone t ~keeps) woken)

let end_seen t ~keeps key { begun; woken } (ended : Recorder.item) =
  match (begun.event, ended.event) with
  | ( Told (Suspended { task; operation; structure; at; _ }),
      Told (Resumed { outcome; _ }) )
    when keeps ->
      let pid = begun.pid and worth = ended.time_ns - begun.time_ns in
      let tasks = Timeline.sort_of task and size = size_of worth in
      insert t
        {
          kind =
            Some (Wait { pid; tasks; operation; structure; at; outcome; size });
          from = segment t begun;
          until = segment t ended;
          worth;
          items = (begun :: Option.to_list woken) @ [ ended ];
          fork = Hashtbl.find_opt t.forks key;
          stands_for = 1;
        }
  | _ -> ()

(* A lost event may have ended any wait of the process that began before the loss. *)
let end_all_unseen t ~keeps pid ~until_ns =
  Hashtbl.to_seq t.waiting
  |> Seq.filter (fun ((of_pid, _), number) ->
      of_pid = pid
      &&
      match Hashtbl.find_opt t.waits (pid, number) with
      | Some { begun; _ } -> begun.time_ns < until_ns
      | None -> true)
  |> List.of_seq
  |> List.iter (fun (key, _) -> end_unseen t ~keeps key)

let take t ~keeps ({ pid; time_ns; event } as item : Recorder.item) =
  match event with
  | Told (Trace.Began _) -> Hashtbl.replace t.programs pid item
  | Told (Suspended { wait; task; _ }) ->
      end_unseen t ~keeps (pid, task.id);
      Hashtbl.replace t.waiting (pid, task.id) wait;
      Hashtbl.replace t.waits (pid, wait) { begun = item; woken = None }
  | Told (Woken { wait; _ }) -> (
      match Hashtbl.find_opt t.waits (pid, wait) with
      | Some open_ -> open_.woken <- Some item
      | None -> alone t ~keeps item)
  | Told (Resumed { wait; task; _ }) -> (
      let key = (pid, task.id) in
      match Hashtbl.find_opt t.waits (pid, wait) with
      | Some open_ ->
          Hashtbl.remove t.waits (pid, wait);
          if Hashtbl.find_opt t.waiting key = Some wait then
            Hashtbl.remove t.waiting key;
          end_seen t ~keeps key open_ item
      | None ->
          end_unseen t ~keeps key;
          alone t ~keeps item)
  | Told (Forked { task; _ }) ->
      Hashtbl.replace t.forks (pid, task.id) item;
      alone t ~keeps item
  | Told (Ended { task; _ }) ->
      end_unseen t ~keeps (pid, task.id);
      Hashtbl.remove t.forks (pid, task.id);
      alone t ~keeps item
  | Told (Queue { name; domain; length }) ->
      alone t ~keeps ~kind:(Queue (pid, domain, name)) ~worth:length item
  | Told (Mark { text; _ }) -> alone t ~keeps ~kind:(Mark (pid, text)) item
  | Paused { domain; pause; for_ns } ->
      let kind = Pause (pid, domain, pause, size_of for_ns) in
      alone t ~keeps ~kind ~worth:for_ns item
  | Lost { domain; _ } ->
      end_all_unseen t ~keeps pid ~until_ns:time_ns;
      alone t ~keeps ~kind:(Loss (pid, domain)) item

let add t item =
  let n = segment t item in
  if Option.is_none t.base then t.base <- Some n;
  t.last <- Int.max t.last n;
  take t ~keeps:true item

let follow t item = take t ~keeps:false item

(* --- The bound --------------------------------------------------------------------- *)

let keep_from t segment =
  replace t (List.filter (fun { until; _ } -> until >= segment) (units t));
  Hashtbl.filter_map_inplace
    (fun group n ->
      if group >= (segment - base t) / t.stride then Some n else None)
    t.left_out

(* [replace] counts anew what was joined before, which adds nothing, because units of a kind and
   a group are one already. *)
let drop_quarter t =
  let sorted = List.sort (fun a b -> Int.compare a.until b.until) (units t) in
  match List.nth_opt sorted (count sorted / 4) with
  | None -> Hashtbl.reset t.left_out
  | Some { until; _ } ->
      t.cut_ns <- Some ((until + 1) * t.width_ns);
      keep_from t (until + 1)

(* A group that lacks items has a place in a table, so it counts too. *)
let number t = t.number + Hashtbl.length t.left_out

let rec trim_to t ~most =
  if number t > most then begin
    if t.stride <= t.last - base t then double t else drop_quarter t;
    trim_to t ~most
  end

let forget_before t ns = keep_from t (ns / t.width_ns)

let trim t ~most ?from_ns () =
  if number t > most then begin
    Option.iter (forget_before t) from_ns;
    trim_to t ~most:(3 * most / 4)
  end

(* --- Reading ------------------------------------------------------------------------ *)

let is_fork (item : Recorder.item) =
  match item.event with
  | Told (Forked _) -> true
  | Told _ | Lost _ | Paused _ -> false

let items t =
  let forks = Hashtbl.copy t.forks in
  let fork (item : Recorder.item) =
    match item.event with
    | Told (Forked { task; _ }) ->
        Hashtbl.replace forks (item.pid, task.id) item
    | Told _ | Lost _ | Paused _ -> ()
  in
  let units = units t in
  List.iter
    (fun { items; fork = of_task; _ } ->
      Option.iter fork of_task;
      List.iter fork items)
    units;
  let of_units =
    List.concat_map
      (fun { items; _ } -> List.filter (fun item -> not (is_fork item)) items)
      units
  and open_ { begun; woken } = begun :: Option.to_list woken in
  List.concat
    [
      List.of_seq (Hashtbl.to_seq_values t.programs);
      List.of_seq (Hashtbl.to_seq_values forks);
      List.concat_map open_ (List.of_seq (Hashtbl.to_seq_values t.waits));
      of_units;
    ]

let zones t =
  let zone (group, left_out) =
    let from = base t + (group * t.stride) in
    {
      Timeline.from_ns = (from + 1) * t.width_ns;
      until_ns = Int.min (from + t.stride) (t.last + 1) * t.width_ns;
      left_out;
    }
  in
  List.of_seq (Hashtbl.to_seq t.left_out)
  |> List.map zone
  |> List.sort (fun (a : Timeline.zone) (b : Timeline.zone) ->
      Int.compare a.from_ns b.from_ns)

let share t = t.stride
let cut_ns t = t.cut_ns

let stands_for t =
  let table = Hashtbl.create 100 in
  List.iter
    (fun unit_ ->
      match unit_.items with
      | { pid; event = Told (Suspended { wait; _ }); _ } :: _
        when unit_.stands_for > 1 ->
          Hashtbl.replace table (pid, wait) unit_.stands_for
      | _ -> ())
    (units t);
  table
