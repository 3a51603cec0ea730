open Results

type change = Better | Worse | Level

type pair = {
  before : row;
  after : row;
  times : float;  (** How many times better [after] is. *)
  change : change;
}

type t = {
  pairs : pair list;
  incomparable : (row * string) list;
      (** Rows in both files that can't be compared, with the reasons. *)
  only_before : row list;
  only_after : row list;
}

(* A change counts only if it exceeds the spread, so that the quartile ranges of the two runs
   do not overlap. *)
let change ~before ~after times =
  let a1, _, a3 = quartiles before and b1, _, b3 = quartiles after in
  let few row = Array.length row.samples < fewest_turns in
  let overlap = (b1 <= a3 && a1 <= b3) || few before || few after in
  if overlap || Float.abs (Float.log times) <= Line.negligible then Level
  else if times > 1. then Better
  else Worse

let median row =
  let _, median, _ = quartiles row in
  median

let pair before after =
  let times =
    if before.more_is_better then median after /. median before
    else median before /. median after
  in
  if before.unit_ <> after.unit_ then
    Error
      (Printf.sprintf "the unit was %s, and is %s now" before.unit_ after.unit_)
  else if not (Float.is_finite times && times > 0.) then
    Error
      (Printf.sprintf "%g and %g have no ratio" (median before) (median after))
  else Ok { before; after; times; change = change ~before ~after times }

let key row = (row.group, row.case, row.impl, row.host)

let find rows =
  let table = Hashtbl.create 64 in
  List.iter (fun row -> Hashtbl.replace table (key row) row) rows;
  fun row -> Hashtbl.find_opt table (key row)

let rows a b =
  let a = rows a and b = rows b in
  let in_a = find a and in_b = find b in
  let pairs, incomparable =
    List.filter_map
      (fun before ->
        Option.map
          (fun after ->
            Result.map_error (fun why -> (before, why)) (pair before after))
          (in_b before))
      a
    |> List.partition_map (function
      | Ok pair -> Either.Left pair
      | Error why -> Right why)
  in
  {
    pairs;
    incomparable;
    only_before = List.filter (fun row -> in_b row = None) a;
    only_after = List.filter (fun row -> in_a row = None) b;
  }

let those_with change t = List.filter (fun pair -> pair.change = change) t.pairs
let is_empty t = t.pairs = []
let has_regression t = those_with Worse t <> []

let label row =
  Printf.sprintf "%-10s %-24s %-20s" row.group row.case (Results.name row)

let line { before; after; times; _ } =
  let figure row =
    let first, median, third = quartiles row in
    Printf.sprintf "%.1f [%.1f %.1f]" median first third
  in
  Printf.sprintf "  %s %s -> %s %s  %.2fx %s" (label before) (figure before)
    (figure after) before.unit_
    (Float.max times (1. /. times))
    (if times > 1. then "better" else "worse")

let part title lines = if lines = [] then [] else "" :: title :: lines

let print ~names:(a, b) t =
  let changed change title =
    let largest_first p q =
      Float.compare
        (Float.abs (Float.log q.times))
        (Float.abs (Float.log p.times))
    in
    let pairs = List.sort largest_first (those_with change t) in
    part
      (Printf.sprintf "%s: %d" title (List.length pairs))
      (List.map line pairs)
  in
  let missing file rows =
    part
      ("only in " ^ file ^ ":")
      (List.map (fun row -> "  " ^ String.trim (label row)) rows)
  in
  let overall =
    match t.pairs with
    | [] -> "no row of one file can be compared with one of the other"
    | pairs ->
        let times = Array.of_list (List.map (fun p -> p.times) pairs) in
        let first, median, third = Concord_bench.Statistics.quartiles times in
        Printf.sprintf
          "rows in both files: %d; level: %d; all of them, the second file to \
           the first: %.2fx as good [%.2f %.2f]"
          (List.length pairs)
          (List.length (those_with Level t))
          median first third
  in
  String.concat "\n"
    ((overall :: changed Worse "worse beyond the spread")
    @ changed Better "better beyond the spread"
    @ part "not comparable:"
        (List.map
           (fun (row, why) -> Printf.sprintf "  %s %s" (label row) why)
           t.incomparable)
    @ missing a t.only_before @ missing b t.only_after @ [ "" ])
