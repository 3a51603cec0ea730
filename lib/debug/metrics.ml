open Concord__diagnosis

type times = (float * int) list

type wait = {
  operation : string;
  structure : string;
  waiting : int;
  waits : int;
  waited : float;
  wait_times : times;
}

type hold = {
  kind : string;
  structure : string;
  holds : int;
  held : float;
  hold_times : times;
}

type structure = {
  kind : string;
  name : string;
  number : int;
  length : int option;
  capacity : int option;
  used : int option;
  limit : int option;
  busy : float option;
}

type snapshot = {
  waits : wait list;
  holds : hold list;
  structures : structure list;
}

let start = Measures.start
let is_on = Observer.measures

(* --- The snapshot --------------------------------------------------------------- *)

let seconds ns = float ns *. 1e-9

(* A multiplication would not give the number that a user writes. *)
let limits =
  List.map (fun ns -> float ns /. 1e9) Measures.limits_ns @ [ infinity ]

let times took =
  let add all n = (all + n, all + n) in
  List.combine limits (snd (List.fold_left_map add 0 took))

let number times = List.fold_left (fun _ (_, n) -> n) 0 times

let wait { Measures.what; structure; waiting_now; took; ns } =
  let wait_times = times took in
  {
    operation = what;
    structure;
    waiting = waiting_now;
    waits = number wait_times;
    waited = seconds ns;
    wait_times;
  }

let hold { Measures.what; structure; took; ns; _ } =
  let hold_times = times took in
  {
    kind = what;
    structure;
    holds = number hold_times;
    held = seconds ns;
    hold_times;
  }

let quantile q times =
  let all = float (number times) in
  let is_enough (_, n) = float n >= q *. all in
  if all = 0. then None else Option.map fst (List.find_opt is_enough times)

let structure { Measures.kind; name; length; capacity; used; limit; busy_ns } =
  let busy = Option.map seconds busy_ns in
  { kind; name; number = 1; length; capacity; used; limit; busy }

(* A limit of several structures is known only if each of them has one. *)
let both add a b =
  match (a, b) with Some a, Some b -> Some (add a b) | _ -> None

let together a b =
  {
    a with
    number = a.number + b.number;
    length = both ( + ) a.length b.length;
    capacity = both ( + ) a.capacity b.capacity;
    used = both ( + ) a.used b.used;
    limit = both ( + ) a.limit b.limit;
    busy = both ( +. ) a.busy b.busy;
  }

module Names = Map.Make (struct
  type t = string * string

  let compare = compare
end)

(* Workers and blocking calls are few, and mostly have no name. *)
let is_shown { name; busy; _ } = name <> "" || Option.is_some busy

(* Those beyond the limit are one structure of each kind, as in [Measures]. *)
let add (all, number) structure =
  let { kind; name; _ } = structure in
  let name =
    if number < Measures.most || Names.mem (kind, name) all then name
    else Measures.others
  in
  match Names.find_opt (kind, name) all with
  | Some before ->
      (Names.add (kind, name) (together before structure) all, number)
  | None -> (Names.add (kind, name) { structure with name } all, number + 1)

let grouped all =
  let grouped, _ = List.fold_left add (Names.empty, 0) all in
  List.map snd (Names.bindings grouped)

let is_warned = Atomic.make false

let warn_once () =
  if Measures.has_others () && not (Atomic.exchange is_warned true) then
    Debug_helpers.write
      (Printf.sprintf
         "concord: more than %d series are measured, so the rest is counted \
          under the name %S. Give the same name to structures that do the same\n"
         Measures.most Measures.others)

let snapshot () =
  warn_once ();
  {
    waits = List.map wait (Measures.all_waits ());
    holds = List.map hold (Measures.all_holds ());
    structures =
      List.map structure (Measures.structures ())
      |> List.filter is_shown |> grouped;
  }

(* --- The text ------------------------------------------------------------------- *)

let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8"

(* A name may contain any bytes, but the text is UTF-8. *)
let add_label buffer (name, value) =
  Printf.bprintf buffer "%s=\"" name;
  let rec from i =
    if i < String.length value then begin
      let char = String.get_utf_8_uchar value i in
      begin match Uchar.to_int (Uchar.utf_decode_uchar char) with
      | 0x22 -> Buffer.add_string buffer "\\\""
      | 0x5c -> Buffer.add_string buffer "\\\\"
      | 0x0a -> Buffer.add_string buffer "\\n"
      | code -> Buffer.add_utf_8_uchar buffer (Uchar.of_int code)
      end;
      from (i + Uchar.utf_decode_length char)
    end
  in
  from 0;
  Buffer.add_char buffer '"'

let add_sample buffer name labels value =
  Printf.bprintf buffer "%s{" name;
  List.iteri
    (fun i label ->
      if i > 0 then Buffer.add_char buffer ',';
      add_label buffer label)
    labels;
  Printf.bprintf buffer "} %s\n" value

(* Each metric begins with its description. A metric without a sample is left out. *)
let add_metric buffer name ~type_ ?unit_ ~help samples =
  if not (List.is_empty samples) then begin
    Printf.bprintf buffer "# TYPE %s %s\n" name type_;
    Option.iter (Printf.bprintf buffer "# UNIT %s %s\n" name) unit_;
    Printf.bprintf buffer "# HELP %s %s\n" name help;
    List.iter
      (fun (suffix, labels, value) ->
        add_sample buffer (name ^ suffix) labels value)
      samples
  end

let int = string_of_int
let float = Printf.sprintf "%.9f"

let add_gauge buffer name ~help samples =
  add_metric buffer name ~type_:"gauge" ~help
    (List.map (fun (labels, n) -> ("", labels, int n)) samples)

let limit seconds =
  if seconds = infinity then "+Inf" else Printf.sprintf "%.12g" seconds

let add_histogram buffer name ~help samples =
  add_metric buffer name ~type_:"histogram" ~unit_:"seconds" ~help
    (List.concat_map
       (fun (labels, times, seconds) ->
         let at_most (le, n) =
           ("_bucket", labels @ [ ("le", limit le) ], int n)
         in
         List.map at_most times
         @ [
             ("_count", labels, int (number times));
             ("_sum", labels, float seconds);
           ])
       samples)

let of_wait { operation; structure; _ } =
  [ ("operation", operation); ("structure", structure) ]

let of_hold ({ kind; structure; _ } : hold) =
  [ ("kind", kind); ("structure", structure) ]

let of_structure { kind; name; _ } = [ ("kind", kind); ("structure", name) ]

let to_openmetrics { waits; holds; structures } =
  let buffer = Buffer.create 4_000 in
  let gauge name ~help read =
    add_gauge buffer name ~help
      (List.filter_map
         (fun s -> Option.map (fun n -> (of_structure s, n)) (read s))
         structures)
  in
  add_gauge buffer "concord_waiting_tasks"
    ~help:"Tasks that wait in this operation now."
    (List.map (fun w -> (of_wait w, w.waiting)) waits);
  add_histogram buffer "concord_wait_seconds"
    ~help:"Waits that have ended, and how long they took."
    (List.map (fun (w : wait) -> (of_wait w, w.wait_times, w.waited)) waits);
  add_histogram buffer "concord_hold_seconds"
    ~help:"How long tasks held this until they gave it back."
    (List.map (fun h -> (of_hold h, h.hold_times, h.held)) holds);
  gauge "concord_length" ~help:"Items, or jobs that wait for a worker."
    (fun s -> s.length);
  gauge "concord_length_limit" ~help:"The limit of concord_length." (fun s ->
      s.capacity);
  gauge "concord_in_use" ~help:"Permits, resources, workers or threads in use."
    (fun s -> s.used);
  gauge "concord_in_use_limit" ~help:"The limit of concord_in_use." (fun s ->
      s.limit);
  add_metric buffer "concord_busy_seconds" ~type_:"counter" ~unit_:"seconds"
    ~help:"How long workers or threads have worked."
    (List.filter_map
       (fun s ->
         Option.map (fun busy -> ("_total", of_structure s, float busy)) s.busy)
       structures);
  gauge "concord_structures" ~help:"Structures of this name." (fun s ->
      Some s.number);
  Buffer.add_string buffer "# EOF\n";
  Buffer.contents buffer
