type sampling = {
  number : int;
  complete_ns : int;
  width_ns : int;
  share : int;
  cut_ns : int option;
}

(* The rings of domains are read one after the other, so items don't come in the order of their
   times. Therefore each item is put into the segment of its time. A segment that is older than
   all rings' next events has all of its items, so it can be passed on in the order of times. *)
type t = {
  last_ns : int option;
  most : int;
  mutable all : int;  (** How many items were added. *)
  mutable number : int;  (** Of the items in [segments]. *)
  width_ns : int;  (** The width of a segment. *)
  segments : (int, Recorder.item list) Hashtbl.t;
      (** The items of each segment, last added first. *)
  older : Sampled.t;
  mutable newest_ns : int;
  mutable first : int option;  (** The oldest segment in [segments]. *)
}

let segments_at_once = 8
let most_width_ns = 50_000_000

let create ?last_ns ?(most = max_int) () =
  let width_ns =
    match last_ns with
    | Some last_ns ->
        Int.min most_width_ns (Int.max 1 (last_ns / segments_at_once))
    | None -> most_width_ns
  in
  {
    last_ns;
    most;
    all = 0;
    number = 0;
    width_ns;
    segments = Hashtbl.create segments_at_once;
    older = Sampled.create ~width_ns;
    newest_ns = 0;
    first = None;
  }

let by_time (a : Recorder.item) (b : Recorder.item) =
  Int.compare a.time_ns b.time_ns

let segment t n = Option.value (Hashtbl.find_opt t.segments n) ~default:[]

let pass_segment t n pass =
  let items = segment t n in
  t.number <- t.number - List.length items;
  List.iter (pass t.older) (List.stable_sort by_time (List.rev items));
  Hashtbl.remove t.segments n;
  t.first <- Some (n + 1)

let rec drop_before t from_ns n =
  if (n + 1) * t.width_ns <= from_ns then begin
    pass_segment t n Sampled.follow;
    drop_before t from_ns (n + 1)
  end

(* Half of the room is for the newest items. *)
let rec pass_older t =
  match t.first with
  | Some n when t.number > t.most / 2 && n + 1 < t.newest_ns / t.width_ns ->
      pass_segment t n Sampled.add;
      pass_older t
  | Some _ | None -> ()

let last_from_ns t = Option.map (fun last_ns -> t.newest_ns - last_ns) t.last_ns

let trim t =
  pass_older t;
  Sampled.trim t.older ~most:(t.most / 2) ?from_ns:(last_from_ns t) ()

let add t (item : Recorder.item) =
  let n = item.time_ns / t.width_ns in
  let first = Option.value t.first ~default:n in
  t.first <- Some first;
  t.all <- t.all + 1;
  t.newest_ns <- Int.max t.newest_ns item.time_ns;
  if n >= first then begin
    t.number <- t.number + 1;
    Hashtbl.replace t.segments n (item :: segment t n)
  end
  else Sampled.follow t.older item;
  match last_from_ns t with
  | Some from_ns when t.newest_ns / t.width_ns > first + segments_at_once ->
      drop_before t from_ns first
  | Some _ | None -> ()

let items t =
  let add _ segment all = List.rev_append segment all in
  Option.iter (Sampled.forget_before t.older) (last_from_ns t);
  Sampled.items t.older @ Hashtbl.fold add t.segments []
  |> List.stable_sort by_time

let is_sampled t =
  Sampled.share t.older > 1 || Option.is_some (Sampled.cut_ns t.older)

let from_ns t =
  match (last_from_ns t, Sampled.cut_ns t.older) with
  | Some a, Some b -> Some (Int.max a b)
  | (Some _ as one), None | None, one -> one

let timeline t =
  Timeline.make ?from_ns:(from_ns t) ~zones:(Sampled.zones t.older)
    ~stands_for:(Sampled.stands_for t.older)
    (items t)

let sampling t =
  if is_sampled t then
    let first = Option.value t.first ~default:0 in
    Some
      {
        number = t.all;
        complete_ns = t.newest_ns - (first * t.width_ns);
        width_ns = t.width_ns;
        share = Sampled.share t.older;
        cut_ns =
          Option.map (fun from -> t.newest_ns - from) (Sampled.cut_ns t.older);
      }
  else None
