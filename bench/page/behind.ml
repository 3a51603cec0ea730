open Results

type who = Own | Library | Language

(* In some groups the field for the library contains the variant of a program. *)
let is_ours row =
  String.starts_with ~prefix:"concord" row.impl
  || row.group = "fib"
     && List.mem row.impl
          [ "composed"; "unsplit"; "long-lived"; "as-printed"; "mvar" ]

(* These rows do less than Concord by design, so they belong to no library: the bare effect, a
   bare loop, the same operation without an event, an iterator, and a style's own MVar. The
   styles all belong to Concord. *)
let does_less row =
  List.mem row.group [ "effect"; "debug"; "scale" ]
  || List.mem row.impl [ "bare"; "no-event"; "select"; "none" ]
  || row.host = "iterator"
  || String.starts_with ~prefix:"private" row.impl

let who_is ~ours peer =
  if List.mem peer.impl [ "go"; "tokio"; "node" ] then Language
  else if
    peer.host = ours.host || (peer.impl = "eio" && ours.host = "eio")
    (* a server of Eio *)
  then Own
  else Library

let best lines =
  let times (line : Line.t) =
    let _, median, _ = line.times in
    median
  in
  List.sort (fun a b -> Float.compare (times a) (times b)) lines

let is_thread row = row.host = "thread"

(* Takes the fastest peer, and compares it with the Concord row that it is least ahead of. *)
let of_case who rows =
  let ours, peers = List.partition is_ours rows in
  let against peer =
    List.filter_map
      (fun ours ->
        if
          does_less peer
          || is_thread peer <> is_thread ours
          || who_is ~ours peer <> who
        then None
        else Line.of_row ~base:ours peer)
      ours
    |> best |> List.rev
  in
  let is_ahead (line : Line.t) =
    let _, times, _ = line.times in
    Line.is_clear line && times < 1.
  in
  let nearest peer =
    match against peer with
    | line :: _ when is_ahead line -> Some line
    | _ -> None
  in
  List.nth_opt (best (List.filter_map nearest peers)) 0

let cases results =
  List.concat_map
    (fun (_, comparisons) ->
      List.concat_map
        (fun c ->
          let rows = c.baseline :: c.others in
          List.sort_uniq compare (List.map (fun row -> row.case) rows)
          |> List.map (fun case ->
              (case, List.filter (fun row -> row.case = case) rows)))
        comparisons)
    (groups results)

let lines results =
  let cases = cases results in
  let beside = Concord_bench.Case.suffix in
  let is_told (case, _) = not (List.mem_assoc (case ^ beside) cases) in
  let cases = List.filter is_told cases in
  List.map
    (fun who ->
      (who, best (List.filter_map (fun (_, rows) -> of_case who rows) cases)))
    [ Own; Library; Language ]
