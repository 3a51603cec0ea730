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
  quartiles : float * float * float;
  versions : (string * string) list;
}

type t = {
  machine : string;
  date : string;
  command : string;
  effort : string;
  left_out : string list;
  rows : row list;
}

type comparison = { title : string; baseline : row; others : row list }

(* --- Versions --- *)

(* The words of a row's names, and the libraries or languages that each stands
   for. *)
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
    ("picos", "Picos");
    ("async", "Async");
    ("go", "Go");
    ("node", "Node.js");
    ("tokio", "Tokio");
  ]

let versions_of ~impl ~host =
  let words = String.split_on_char '-' impl @ String.split_on_char '-' host in
  let used =
    List.filter_map
      (fun (word, library) ->
        if List.mem word words then Some library else None)
      libraries
  in
  let ocaml =
    match impl with
    | "go" | "node" | "tokio" -> []
    | _ -> [ ("OCaml", Sys.ocaml_version) ]
  in
  ocaml @ List.filter (fun (name, _) -> List.mem name used) Installed.versions

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
      quartiles = Statistics.quartiles values;
      versions = versions_of ~impl:row.impl ~host:row.host;
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

(* --- Questions --- *)

let name row = row.impl ^ "@" ^ row.host

let median row =
  let _, median, _ = row.quartiles in
  median

let spread row =
  let first, median, third = row.quartiles in
  (third -. first) /. median

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

(* The parts of a list whose elements have equal keys, each where its first is. *)
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

(* Older files have no comparisons, but cases. *)
let groups { rows; _ } =
  let key (row : row) =
    match row.comparison with Some i -> string_of_int i | None -> row.case
  in
  List.map
    (fun (group, rows) ->
      (group, List.map (fun (_, rows) -> comparison_of rows) (by key rows)))
    (by (fun row -> row.group) rows)

let were_in_turns (a : row) (b : row) =
  a.group = b.group && a.comparison <> None
  && a.comparison = b.comparison
  && Array.length a.samples > 0
  && Array.length b.samples > 0

(* Of two samples the quartiles say nothing. *)
let fewest_samples = 3

let has_spread row =
  let n = Array.length row.samples in
  n = 0 || n >= fewest_samples

let answered row =
  if row.offered = [||] || Array.length row.offered <> Array.length row.samples
  then None
  else Some (Statistics.quartiles (Array.map2 ( /. ) row.samples row.offered))

let ratio row ~to_:base =
  let times better worse =
    if row.more_is_better then better /. worse else worse /. better
  in
  if row.unit_ <> base.unit_ then None
  else if not (has_spread row && has_spread base) then
    Some (0., times (median row) (median base), infinity)
  else if were_in_turns row base then
    Some
      (Statistics.quartiles (Statistics.pairs times row.samples base.samples))
  else
    let r1, r2, r3 = row.quartiles and b1, b2, b3 = base.quartiles in
    let a = times r1 b3 and b = times r3 b1 in
    Some (Float.min a b, times r2 b2, Float.max a b)
