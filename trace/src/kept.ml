open Concord.Tools

(* The rings of domains are read one after the other, so items don't come in the order of their
   times. Therefore each item is put into the segment of its time. When a segment is older than
   the last seconds, it has all of its items, so they can be dropped in the order of their times.
   If later items may refer to a dropped item, it moves to [begun]. These are the start of each
   program, and the fork and the open wait of each task. *)
type t = {
  last_ns : int option;
  width_ns : int;  (** The width of a segment. *)
  segments : (int, Recorder.item list) Hashtbl.t;
      (** The items of each segment, last added first. *)
  begun : (string * int * int, Recorder.item) Hashtbl.t;
  mutable newest_ns : int;
  mutable first : int option;  (** The oldest segment that is not dropped. *)
}

let segments_at_once = 8

let create ?last_ns () =
  {
    last_ns;
    width_ns =
      (match last_ns with
      | Some last_ns -> Int.max 1 (last_ns / segments_at_once)
      | None -> max_int);
    segments = Hashtbl.create segments_at_once;
    begun = Hashtbl.create 10;
    newest_ns = 0;
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

let rec drop_before t from_ns n =
  t.first <- Some n;
  if (n + 1) * t.width_ns <= from_ns then begin
    List.iter (drop t) (List.stable_sort by_time (List.rev (segment t n)));
    Hashtbl.remove t.segments n;
    drop_before t from_ns (n + 1)
  end

let add t (item : Recorder.item) =
  let n = item.time_ns / t.width_ns in
  let first = Option.value t.first ~default:n in
  t.first <- Some first;
  t.newest_ns <- Int.max t.newest_ns item.time_ns;
  if n >= first then Hashtbl.replace t.segments n (item :: segment t n)
  else drop t item;
  match t.last_ns with
  | Some last_ns when t.newest_ns / t.width_ns > first + segments_at_once ->
      drop_before t (t.newest_ns - last_ns) first
  | Some _ | None -> ()

let items t =
  let add _ segment all = List.rev_append segment all in
  List.of_seq (Hashtbl.to_seq_values t.begun) @ Hashtbl.fold add t.segments []
  |> List.stable_sort by_time

let from_ns t = Option.map (fun last_ns -> t.newest_ns - last_ns) t.last_ns
