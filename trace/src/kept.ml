open Concord.Tools

(* The rings of domains are read one after the other, so items don't come in the order of their
   times. Therefore each item is put into the segment of its time. When a segment is older than
   the last seconds, it has all of its items, so they can be dropped in the order of their times.
   If later items may refer to a dropped item, it moves to [begun]. These are the start of each
   program, and the fork and the open wait of each task. *)
type t = {
  last_ns : int option;
  most : int;
  mutable number : int;  (** Of the items in [segments]. *)
  width_ns : int;  (** The width of a segment. *)
  segments : (int, Recorder.item list) Hashtbl.t;
      (** The items of each segment, last added first. *)
  begun : (string * int * int, Recorder.item) Hashtbl.t;
  mutable newest_ns : int;
  mutable is_cut : bool;
  mutable first : int option;  (** The oldest segment that is not dropped. *)
}

let segments_at_once = 8
let most_width_ns = 50_000_000

let create ?last_ns ?(most = max_int) () =
  {
    last_ns;
    most;
    number = 0;
    width_ns =
      (match last_ns with
      | Some last_ns ->
          Int.min most_width_ns (Int.max 1 (last_ns / segments_at_once))
      | None -> most_width_ns);
    segments = Hashtbl.create segments_at_once;
    begun = Hashtbl.create 10;
    newest_ns = 0;
    is_cut = false;
    first = None;
  }

(* A lost event may have ended any wait of the process that began before the loss. *)
let forget_waits t pid ~until_ns =
  let keep (kind, of_pid, _) (item : Recorder.item) =
    if kind = "wait" && of_pid = pid && item.time_ns < until_ns then None
    else Some item
  in
  Hashtbl.filter_map_inplace keep t.begun

let drop t ({ pid; time_ns; event } as item : Recorder.item) =
  let keep kind id = Hashtbl.replace t.begun (kind, pid, id) item
  and forget kind id = Hashtbl.remove t.begun (kind, pid, id) in
  match event with
  | Told (Trace.Began _) -> keep "program" 0
  | Told (Suspended { task; _ }) -> keep "wait" task.id
  | Told (Resumed { task; _ }) -> forget "wait" task.id
  | Told (Forked { task; _ }) -> keep "task" task.id
  | Told (Ended { task; _ }) ->
      forget "wait" task.id;
      forget "task" task.id
  | Lost _ -> forget_waits t pid ~until_ns:time_ns
  | Told (Woken _ | Queue _ | Mark _) | Paused _ -> ()

let by_time (a : Recorder.item) (b : Recorder.item) =
  Int.compare a.time_ns b.time_ns

let segment t n = Option.value (Hashtbl.find_opt t.segments n) ~default:[]

let drop_segment t n =
  let items = segment t n in
  t.number <- t.number - List.length items;
  List.iter (drop t) (List.stable_sort by_time (List.rev items));
  Hashtbl.remove t.segments n;
  t.first <- Some (n + 1)

let rec drop_before t from_ns n =
  t.first <- Some n;
  if (n + 1) * t.width_ns <= from_ns then begin
    drop_segment t n;
    drop_before t from_ns (n + 1)
  end

(* The newest segment stays, however many items it has. *)
let rec trim t =
  match t.first with
  | Some n when t.number > t.most && n < t.newest_ns / t.width_ns ->
      t.is_cut <- true;
      drop_segment t n;
      trim t
  | Some _ | None -> ()

let add t (item : Recorder.item) =
  let n = item.time_ns / t.width_ns in
  let first = Option.value t.first ~default:n in
  t.first <- Some first;
  t.newest_ns <- Int.max t.newest_ns item.time_ns;
  if n >= first then begin
    t.number <- t.number + 1;
    Hashtbl.replace t.segments n (item :: segment t n)
  end
  else drop t item;
  match t.last_ns with
  | Some last_ns when t.newest_ns / t.width_ns > first + segments_at_once ->
      drop_before t (t.newest_ns - last_ns) first
  | Some _ | None -> ()

let items t =
  let add _ segment all = List.rev_append segment all in
  List.of_seq (Hashtbl.to_seq_values t.begun) @ Hashtbl.fold add t.segments []
  |> List.stable_sort by_time

let first_ns t =
  match t.first with
  | Some n when t.is_cut -> Some (n * t.width_ns)
  | Some _ | None -> None

let from_ns t =
  let of_last = Option.map (fun last_ns -> t.newest_ns - last_ns) t.last_ns in
  match (of_last, first_ns t) with
  | Some a, Some b -> Some (Int.max a b)
  | (Some _ as one), None | None, one -> one

let cut_to_ns t = Option.map (fun first -> t.newest_ns - first) (first_ns t)
