open Results

type t = {
  name : string;
  baseline : string;
  times : float * float * float;
  absolute : float;
  unit_ : string;
  turns : int;
  drift : float;
}

(* --- Which differences count --- *)

let negligible = 0.03

let drift samples =
  let change i = Float.abs (Float.log (samples.(i + 1) /. samples.(i))) in
  match Array.length samples with
  | 0 | 1 -> infinity
  | n -> Concord_bench.Statistics.median (Array.init (n - 1) change)

let is_beyond ~drift ~limit (first, median, third) =
  (first > limit || third < limit)
  && Float.abs (Float.log (median /. limit)) > Float.max drift negligible

let is_close ~limit (_, median, _) =
  Float.abs (Float.log (median /. limit)) <= negligible

let interval { times; turns; _ } =
  Concord_bench.Statistics.interval ~samples:turns times

let is_clear { times; drift; _ } = is_beyond ~drift ~limit:1. times

(* --- From results --- *)

let median row =
  let _, median, _ = quartiles row in
  median

(* For a rate, this uses the fraction of the due requests that were answered, because the
   number of due requests may change from turn to turn with the machine's speed. *)
let drift_of row =
  if row.more_is_better && Array.length row.offered = Array.length row.samples
  then drift (Array.map2 ( /. ) row.samples row.offered)
  else drift row.samples

let label row = row.case ^ " " ^ Results.name row

let of_baseline row =
  {
    name = label row;
    baseline = "";
    times = (1., 1., 1.);
    absolute = median row;
    unit_ = row.unit_;
    turns = Array.length row.samples;
    drift = drift_of row;
  }

let of_row ~base row =
  let cost a b = if row.more_is_better then b /. a else a /. b in
  let line ((_, times, _) as quartiles) =
    {
      name = label row;
      baseline = label base;
      times = quartiles;
      absolute =
        (if row.more_is_better then median base /. times
         else median base *. times);
      unit_ = row.unit_;
      turns = turns row base;
      drift = drift_of base;
    }
  in
  if row.unit_ = base.unit_ then Option.map line (in_turns cost row base)
  else None

(* --- Printing --- *)

exception Contradiction of string

let is_rate unit_ = String.ends_with ~suffix:"/s" unit_

(* Printing only three digits may change a ratio by this much. *)
let rounding = 0.02

let check lines =
  let against line (base : t) =
    let quotient =
      if is_rate line.unit_ then base.absolute /. line.absolute
      else line.absolute /. base.absolute
    and first, _, third = line.times in
    if
      not
        (quotient >= first *. (1. -. rounding)
        && quotient <= third *. (1. +. rounding))
    then
      let reason =
        Printf.sprintf
          "%s: %g %s against %g %s of %s is %.3f, and not between the \
           quartiles %.3f and %.3f"
          line.name line.absolute line.unit_ base.absolute base.unit_ base.name
          quotient first third
      in
      raise (Contradiction reason)
  in
  List.iter
    (fun line ->
      List.find_opt (fun base -> base.name = line.baseline) lines
      |> Option.iter (against line))
    lines

let thousands digits =
  let n = String.length digits in
  String.concat ""
    (List.init n (fun i ->
         let separated = i > 0 && (n - i) mod 3 = 0 in
         (if separated then "," else "") ^ String.make 1 digits.[i]))

let figure x =
  if x = 0. || x >= 100. then thousands (Printf.sprintf "%.0f" x)
  else
    Printf.sprintf "%.*f" (if x >= 10. then 1 else if x >= 0.1 then 2 else 3) x

let brackets { times = first, _, third; _ } =
  Printf.sprintf "[%s %s]" (figure first) (figure third)

let ratio line =
  let _, median, _ = line.times in
  if is_clear line then figure median else "no clear difference"

let cell = function None -> "" | Some line -> ratio line ^ " " ^ brackets line
let absolute line = figure line.absolute ^ " " ^ line.unit_

let cells ~head rows =
  let escaped text = String.concat "\\|" (String.split_on_char '|' text) in
  let line cells =
    "| " ^ String.concat " | " (List.map escaped cells) ^ " |\n"
  in
  String.concat ""
    ((line head :: [ line (List.map (fun _ -> "---") head) ])
    @ List.map line rows)

let table lines =
  check lines;
  let line t =
    let compared =
      if t.baseline = "" then [ ""; "1"; "" ]
      else [ t.baseline; ratio t; brackets t ]
    in
    (t.name :: compared) @ [ absolute t; string_of_int t.turns ]
  in
  cells
    ~head:[ "row"; "against"; "time"; "quartiles"; "absolute"; "turns" ]
    (List.map line lines)

let beside ~corner ~columns lines =
  let line (name, base, others) =
    let turns =
      List.fold_left
        (fun turns t -> Int.min turns t.turns)
        base.turns
        (List.filter_map Fun.id others)
    in
    (name :: absolute base :: List.map cell others) @ [ string_of_int turns ]
  in
  cells ~head:((corner :: columns) @ [ "turns" ]) (List.map line lines)
