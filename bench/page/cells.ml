(* The cells of the tables that documents have. *)

open Results

let find results group case row =
  List.find_opt
    (fun r -> r.group = group && r.case = case && Results.name r = row)
    results.rows

let or_empty f = Option.fold ~none:"" ~some:f

let thousands digits =
  let n = String.length digits in
  String.concat ""
    (List.init n (fun i ->
         let separated = i > 0 && (n - i) mod 3 = 0 in
         (if separated then "," else "") ^ String.make 1 digits.[i]))

let figure x =
  match String.split_on_char '.' (Ratio.figure x) with
  | [ whole ] -> thousands whole
  | _ -> Ratio.figure x

let median row = figure (Results.median row)
let with_unit row = median row ^ " " ^ row.unit_

(* How many times as much [row] takes as [base], or as little. *)
let times ?(brackets = true) row ~base =
  match Results.ratio base ~to_:row with
  | Some (first, median, third) when brackets && Float.is_finite third ->
      Printf.sprintf "%.2f [%.2f %.2f]" median first third
  | Some (_, median, _) -> Printf.sprintf "%.2f" median
  | None -> ""

let better row ~base =
  let better, worse =
    if row.more_is_better then ("more", "less") else ("faster", "slower")
  in
  match Results.ratio row ~to_:base with
  | None -> ""
  | Some (first, median, third) ->
      let x, low, high, word =
        if median >= 1. then (median, first, third, better)
        else (1. /. median, 1. /. third, 1. /. first, worse)
      in
      Printf.sprintf "%.2fx %s%s" x word
        (if Float.is_finite high then Printf.sprintf " [%.2f %.2f]" low high
         else "")
