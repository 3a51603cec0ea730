type row = {
  operation : string;
  structure : string;
  at : string;
  count : int;
  total_ns : int;
  longest_ns : int;
}

type pauses = {
  pause : Recorder.pause;
  times : int;
  sum_ns : int;
  most_ns : int;
}

type t = {
  waits : (string * string * string, row) Hashtbl.t;
  pauses : (Recorder.pause, pauses) Hashtbl.t;
  marks : (string, int) Hashtbl.t;
}

let create () =
  {
    waits = Hashtbl.create 100;
    pauses = Hashtbl.create 3;
    marks = Hashtbl.create 10;
  }

let others = "others"

(* [key], or [otherwise] if [table] is full and doesn't have [key]. So [table] stays bounded. *)
let bounded table ~most key ~otherwise =
  if Hashtbl.mem table key || Hashtbl.length table < most then key
  else otherwise

let add t ~operation ~structure ~at ns =
  let key =
    bounded t.waits ~most:10_000 (operation, structure, at)
      ~otherwise:(others, "", "")
  in
  let operation, structure, at = key in
  let before =
    Option.value
      (Hashtbl.find_opt t.waits key)
      ~default:
        { operation; structure; at; count = 0; total_ns = 0; longest_ns = 0 }
  in
  Hashtbl.replace t.waits key
    {
      before with
      count = before.count + 1;
      total_ns = before.total_ns + ns;
      longest_ns = Int.max before.longest_ns ns;
    }

let pause t pause ns =
  let before =
    Option.value
      (Hashtbl.find_opt t.pauses pause)
      ~default:{ pause; times = 0; sum_ns = 0; most_ns = 0 }
  in
  Hashtbl.replace t.pauses pause
    {
      before with
      times = before.times + 1;
      sum_ns = before.sum_ns + ns;
      most_ns = Int.max before.most_ns ns;
    }

let mark t text =
  let text = bounded t.marks ~most:1_000 text ~otherwise:others in
  let before = Option.value (Hashtbl.find_opt t.marks text) ~default:0 in
  Hashtbl.replace t.marks text (before + 1)

let waits t =
  List.of_seq (Hashtbl.to_seq_values t.waits)
  |> List.sort (fun a b -> compare (b.total_ns, a) (a.total_ns, b))

let pauses t =
  List.filter_map
    (Hashtbl.find_opt t.pauses)
    [ Recorder.Minor; Major_slice; Stop_the_world ]

let marks t =
  List.of_seq (Hashtbl.to_seq t.marks)
  |> List.sort (fun (a, n) (b, m) -> compare (m, a) (n, b))

let name_of_pause = function
  | Recorder.Minor -> "minor collection"
  | Major_slice -> "slice of the major collection"
  | Stop_the_world -> "stop of all domains"

(* --- For people --------------------------------------------------------------- *)

let seconds ns = float_of_int ns *. 1e-9
let or_dash text = if text = "" then "-" else text

let wait_line { operation; structure; at; count; total_ns; longest_ns } =
  Printf.sprintf "  %11.3f s %9d %11.3f s  %-20s %-12s %s" (seconds total_ns)
    count (seconds longest_ns) (or_dash operation) (or_dash structure)
    (or_dash at)

let pause_line { pause; times; sum_ns; most_ns } =
  Printf.sprintf "  %11.3f s %9d %11.3f s  %s" (seconds sum_ns) times
    (seconds most_ns) (name_of_pause pause)

let mark_line (text, times) = Printf.sprintf "  %23d  %s" times text

let section ~most title line = function
  | [] -> []
  | all ->
      let shown = List.filteri (fun i _ -> i < most) all in
      let rest = List.length all - List.length shown in
      (title :: List.map line shown)
      @ if rest = 0 then [] else [ Printf.sprintf "  and %d more" rest ]

let lines t =
  section ~most:20
    "  waiting time     count       longest  operation            structure    \
     line"
    wait_line (waits t)
  @ section ~most:3 "  pauses           count       longest  of the collector"
      pause_line (pauses t)
  @ section ~most:10 "  marks" mark_line (marks t)
