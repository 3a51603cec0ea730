(* Tests the verdicts on rows that are made by hand. *)

open Bench_page

let row = By_hand.row
let steady x = [ x; x *. 1.01; x *. 0.99; x; x ]

let rows =
  [
    row "eio" "eio" (steady 100.);
    row "half" "fifo" (steady 50.);
    row "same" "fifo" (steady 100.);
    row "double" "fifo" (steady 200.);
    row "wide" "fifo" [ 80.; 120.; 90.; 110.; 100. ];
    row ~case:"other" ~comparison:1 "half" "fifo" (steady 50.);
  ]

let results = [ By_hand.run rows ]
let subject ?(case = "case") row = { Claim.group = "group"; case; row }
let eio = subject "eio@eio"

let print says limit pairs =
  let claim = Claim.at_most limit ~says pairs in
  let findings = claim.findings results in
  Printf.printf "%s: %s\n" says (Claim.words (Claim.verdict findings));
  List.iter
    (fun (f : Claim.finding) ->
      Printf.printf "  %s: %s\n" (Claim.words f.verdict) f.what)
    findings

let () =
  let half = subject "half@fifo"
  and same = subject "same@fifo"
  and double = subject "double@fifo"
  and wide = subject "wide@fifo" in
  print "half is less" 1. [ (half, eio) ];
  print "double is less" 1. [ (double, eio) ];
  print "the same is less" 1. [ (same, eio) ];
  print "the same is at most 1.05" 1.05 [ (same, eio) ];
  print "what varies is at most 1.05" 1.05 [ (wide, eio) ];
  print "one of them is refuted" 1. [ (half, eio); (double, eio); (wide, eio) ];
  print "one is undecided" 1. [ (half, eio); (wide, eio) ];
  print "one is not there" 1. [ (half, eio); (subject "missing@fifo", eio) ];
  print "of another case" 1. [ (subject ~case:"other" "half@fifo", eio) ];
  print "double is at most 3 times" 3. [ (double, eio) ];
  let deciding limit pairs =
    let claim = Claim.at_most limit ~says:"" pairs in
    Printf.printf "by: %s\n" (Claim.deciding (claim.findings results))
  in
  deciding 1. [ (half, eio) ];
  deciding 1. [ (half, eio); (half, double) ];
  deciding 1. [ (same, eio); (double, eio); (wide, eio); (double, half) ];
  let apart says limit pairs =
    let findings = (Claim.apart limit ~says pairs).findings results in
    Printf.printf "%s: %s by %s\n" says
      (Claim.words (Claim.verdict findings))
      (Claim.deciding findings)
  in
  let other = subject ~case:"other" "half@fifo" in
  apart "in other turns, half" 0.6 [ (Row other, Row eio) ];
  apart "in other turns, less than half" 0.4 [ (Row other, Row eio) ];
  apart "in other turns, too close to half" 0.5 [ (Row other, Row eio) ];
  apart "ratios" 0.6 [ (Ratio (half, eio), Ratio (same, eio)) ];
  apart "a ratio of rows of other turns" 1.
    [ (Ratio (other, eio), Ratio (same, eio)) ];
  let figure limit unit_ =
    let findings =
      (Claim.figure limit unit_ ~says:"" [ wide ]).findings results
    in
    Printf.printf "at most %g %s: %s by %s\n" limit unit_
      (Claim.words (Claim.verdict findings))
      (Claim.deciding findings)
  in
  figure 130. "ns";
  figure 100. "ns";
  figure 80. "ns";
  figure 80. "us";
  let not_measured = Claim.not_measured ~says:"" "there is none" in
  assert (Claim.verdict (not_measured.findings results) = Missing);
  assert (Claim.verdict [] = Missing)

(* Tests how many turns a claim gets whose comparison has no time left. The samples are made up,
   with the same noise in each run. *)
let noise =
  [| 0.; 0.15; -0.1; 0.08; -0.18; 0.12; -0.05; 0.2; -0.15; 0.03; -0.08 |]

let () =
  let open Concord_bench in
  let case impl : Case.row =
    Case.row ~case:"case" ~impl ~host:"fifo" (Case.Time (fun _ -> 0.))
  in
  let baseline = case "base" and ours = case "ours" and other = case "other" in
  let comparison : Case.comparison =
    { title = ""; baseline; others = [ ours; other ] }
  in
  let group = { Case.name = "group"; doc = ""; comparisons = [ comparison ] } in
  let claim =
    Claim.at_most 1. ~says:"" [ (subject "ours@fifo", subject "base@fifo") ]
  in
  let turns ~ratio ~noise:scale =
    let sample factor i =
      let noise = noise.(i mod Array.length noise) in
      100. *. factor *. (1. +. (scale *. noise))
    in
    let result row factor n : Measure.result =
      { row; values = Array.init n (sample factor); offered = [||] }
    in
    let rec go n =
      let base = { (result baseline 1. n) with values = Array.make n 100. } in
      let results = [ base; result ours ratio n; result other 1. n ] in
      let measured = [ (comparison, results) ] in
      let is_undecided =
        Undecided.is_undecided ~claims:[ claim ] group measured
      in
      if n >= 3 && is_undecided other then failwith "there is no claim about it";
      let ours = List.nth results 1 in
      let series = [ Array.map (fun x -> x /. 100.) ours.values ] in
      if
        Effort.goes_on Effort.full ours.row ~late:2.
          ~is_undecided:(is_undecided ours.row) series
      then go (n + 1)
      else
        let rows = Results.of_measured [ (group, measured) ] in
        (n, Claim.verdict (claim.findings [ By_hand.run rows ]))
    in
    let n, verdict = go 1 in
    Printf.printf "%g with %g of the noise: %s after %d turns\n" ratio scale
      (Claim.words verdict) n
  in
  turns ~ratio:0.5 ~noise:0.1;
  turns ~ratio:0.9 ~noise:0.1;
  turns ~ratio:0.9 ~noise:1.;
  turns ~ratio:1.1 ~noise:1.;
  turns ~ratio:1.01 ~noise:0.1;
  turns ~ratio:1.01 ~noise:1.;
  turns ~ratio:1.04 ~noise:1.

(* Tests the choice of the baseline. Threads are compared with Stdlib, and other rows with the
   first row of the case. *)
let () =
  let thread = row "concord" "thread" (steady 1.)
  and stdlib = row "stdlib" "thread" (steady 1.)
  and alone = row ~case:"alone" "concord" "fifo" (steady 1.)
  and baseline = row "eio" "eio" (steady 1.) in
  let base_of others = Results.base_of { title = ""; baseline; others } in
  let is base row = base == Option.get row in
  assert (is stdlib (base_of [ thread; stdlib ] thread));
  assert (base_of [ thread; stdlib ] stdlib = None);
  assert (base_of [ thread ] thread = None);
  assert (base_of [ thread ] baseline = None);
  assert (is baseline (base_of [ alone ] alone))
