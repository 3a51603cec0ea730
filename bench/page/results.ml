open Concord_bench

type row = {
  group : string;
  case : string;
  impl : string;
  host : string;
  title : string;
  comparison : int option;
  is_baseline : bool;
  unit_ : string;
  more_is_better : bool;
  samples : float array;
  offered : float array;
}

type run = {
  machine : string;
  date : string;
  command : string;
  effort : string;
  versions : (string * string) list;
  left_out : string list;
  rows : row list;
}

type t = run list
type comparison = { title : string; baseline : row; others : row list }

(* --- Versions --- *)

(* The words in the names of rows, with the libraries or languages that they stand for. *)
let libraries =
  [
    ("eio", "Eio");
    ("lwt", "Lwt");
    ("domainslib", "Domainslib");
    ("kcas", "Kcas");
    ("lwt_eio", "Lwt");
    ("lwt_eio", "Eio");
    ("lwt_eio", "Lwt_eio");
    ("cohttp", "Cohttp");
    ("caqti", "caqti");
    ("caqti", "Lwt");
    ("picos", "Picos");
    ("async", "Async");
    ("go", "Go");
    ("node", "Node.js");
    ("tokio", "Tokio");
  ]

let versions rows =
  let words row = String.split_on_char '-' (row.impl ^ "-" ^ row.host) in
  let used = List.sort_uniq compare (List.concat_map words rows) in
  let is_used name =
    List.exists (fun (word, l) -> l = name && List.mem word used) libraries
  in
  ("OCaml", Sys.ocaml_version)
  :: List.filter (fun (name, _) -> is_used name) Installed.versions

(* --- From a run --- *)

let of_measured groups =
  let row (group : Case.group) i (comparison : Case.comparison)
      ({ row; values; offered } : Measure.result) =
    {
      group = group.name;
      case = row.case;
      impl = row.impl;
      host = row.host;
      title = comparison.title;
      comparison = Some i;
      is_baseline = row == comparison.baseline;
      unit_ = (Case.figure row).unit_;
      more_is_better = (Case.figure row).more_is_better;
      samples = values;
      offered;
    }
  in
  List.concat_map
    (fun (group, comparisons) ->
      List.concat
        (List.mapi
           (fun i (comparison, results) ->
             List.map (row group i comparison) results)
           comparisons))
    groups

let add run t =
  let is_new row = List.exists (fun r -> r.group = row.group) run.rows in
  let without old =
    { old with rows = List.filter (fun row -> not (is_new row)) old.rows }
  in
  List.filter (fun old -> old.rows <> []) (List.map without t) @ [ run ]

(* --- Questions --- *)

let rows t = List.concat_map (fun run -> run.rows) t
let name row = row.impl ^ "@" ^ row.host
let quartiles row = Statistics.quartiles row.samples

let find t ~group ~case row =
  List.find_opt
    (fun r -> r.group = group && r.case = case && name r = row)
    (rows t)

let comparison_of rows =
  let baseline =
    match List.find_opt (fun row -> row.is_baseline) rows with
    | Some row -> row
    | None -> List.hd rows
  in
  {
    title = baseline.title;
    baseline;
    others = List.filter (fun row -> row != baseline) rows;
  }

(* Splits a list into parts whose elements have equal keys. The parts are in the order of their
   first elements. *)
let by key list =
  let add parts x =
    let k = key x in
    match List.assoc_opt k parts with
    | Some part ->
        part := x :: !part;
        parts
    | None -> (k, ref [ x ]) :: parts
  in
  List.fold_left add [] list
  |> List.rev_map (fun (k, part) -> (k, List.rev !part))

let groups t =
  let key (row : row) =
    match row.comparison with Some i -> string_of_int i | None -> row.case
  in
  List.map
    (fun (group, rows) ->
      (group, List.map (fun (_, rows) -> comparison_of rows) (by key rows)))
    (by (fun row -> row.group) (rows t))

let is_thread row = row.host = "thread"

let base_of { baseline; others; _ } row =
  let rows = List.filter (fun r -> r.case = row.case) (baseline :: others) in
  let base =
    if is_thread row && not (is_thread baseline) then
      List.find_opt (fun r -> name r = "stdlib@thread") rows
    else if List.length rows = 1 then Some baseline
    else Some (List.hd rows)
  in
  match base with Some base when base == row -> None | base -> base

let fewest_turns = 3
let turns a b = Int.min (Array.length a.samples) (Array.length b.samples)

let in_turns f a b =
  if
    a.group = b.group && a.comparison <> None
    && a.comparison = b.comparison
    && turns a b >= fewest_turns
  then Some (Statistics.quartiles (Statistics.pairs f a.samples b.samples))
  else None
