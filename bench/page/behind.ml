open Results

type t = { row : row; peer : row; times : float * float * float }

let head =
  [ "group"; "case"; "row"; "median"; "best peer"; "the peer is better by" ]

(* In some groups the variant of a program is in the place of the library. *)
let is_ours row =
  String.starts_with ~prefix:"concord" row.impl
  || row.group = "fib"
     && List.mem row.impl [ "composed"; "as-printed"; "mvar" ]

(* What does less than ours by design is there to be measured against, and is nobody's
   library: the bare effect, or loop, the same operation without an event, a style's own
   MVar. *)
let does_less row =
  row.group = "effect" || row.impl = "bare" || row.impl = "no-event"
  || String.starts_with ~prefix:"private" row.impl

let is_ahead ((first, median, _) as times) =
  first > 1. && median > 1. && not (Ratio.exceeds_its_effect times)

let ahead_of row rows =
  let times peer =
    if is_ours peer || does_less peer || peer.case <> row.case then None
    else
      match Results.ratio peer ~to_:row with
      | Some times when is_ahead times -> Some { row; peer; times }
      | Some _ | None -> None
  in
  List.filter_map times rows

let worst_first { times = _, a, _; _ } { times = _, b, _; _ } =
  Float.compare b a

let of_comparison (c : comparison) =
  let rows = c.baseline :: c.others in
  List.filter is_ours rows
  |> List.filter_map (fun row ->
      List.nth_opt (List.sort worst_first (ahead_of row rows)) 0)

let rows results =
  List.concat_map
    (fun (_, comparisons) -> List.concat_map of_comparison comparisons)
    (Results.groups results)
  |> List.sort worst_first
