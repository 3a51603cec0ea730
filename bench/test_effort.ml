(* Tests when a row has enough samples, how comparisons share the time of a run, and how a
   growth is reported. *)

open Concord_bench

let expect what condition =
  if not condition then begin
    print_endline what;
    exit 1
  end

let row ?(case = "case") sample =
  Case.row ~case ~impl:"nobody" ~host:"nowhere" sample

let time = row (Case.Time (fun _ -> 0.))

(* --- Statistics --- *)

let near a b = Float.abs (a -. b) < 1e-9
let up_to n = Array.init n (fun i -> float_of_int (i + 1))

let () =
  expect "quartiles" (Statistics.quartiles (up_to 5) = (2., 3., 4.));
  expect "pairs of the samples that both have"
    (Statistics.pairs ( -. ) (up_to 3) (up_to 5) = [| 0.; 0.; 0. |]);
  expect "without a spread there is no error"
    (Statistics.error (Array.make 5 7.) = 0.);
  let few = Array.init 9 (fun i -> 100. +. float_of_int (i mod 3)) in
  let many = Array.concat [ few; few; few; few ] in
  expect "four times the samples give half the error"
    (near (Statistics.error many *. 2.) (Statistics.error few))

let reach samples =
  let low, high = Statistics.interval ~samples (95., 100., 105.) in
  expect "the median is in its interval" (low < 100. && 100. < high);
  Float.log (high /. low)

let () =
  expect "without a spread there is no interval"
    (Statistics.interval ~samples:3 (7., 7., 7.) = (7., 7.));
  expect "four times the samples halve the interval, if they are many"
    (Float.abs ((reach 1000 /. reach 4000) -. 2.) < 0.01);
  expect "three samples say little" (reach 3 > 3. *. reach 11);
  (* Student's t for 95 % and 10 degrees of freedom is 2.228. *)
  expect "the table and the series agree"
    (Float.abs
       ((reach 11 *. sqrt 11. /. 2.228) -. (reach 10 *. sqrt 10. /. 2.262))
    < 0.002)

(* --- Samples --- *)

let effort = Effort.full
let steady n = Array.init n (fun i -> 100. +. float_of_int (i mod 2))
let noisy n = Array.init n (fun i -> 100. +. (40. *. float_of_int (i mod 2)))
let known ?(row = time) series = Effort.is_known effort row series

let () =
  expect "too few" (not (known [ steady (effort.enough - 1) ]));
  expect "enough" (known [ steady effort.enough ]);
  expect "a noisy row takes more samples"
    (not (known [ noisy (effort.most - 1) ]));
  expect "but not without end" (known [ noisy effort.most ]);
  expect "each series counts"
    (not (known [ steady effort.enough; noisy effort.enough ]));
  let bytes = row (Case.resident (fun _ -> 0.)) in
  expect "a row with few samples needs fewer"
    (known ~row:bytes [ steady effort.fewest ]);
  expect "and all of them are enough" (known ~row:bytes [ noisy Case.few.full ])

let goes_on ?(row = time) ?(late = 0.) ~is_undecided series =
  Effort.goes_on effort row ~late ~is_undecided [ series ]

let () =
  let known = steady effort.enough and fewest = noisy effort.fewest in
  expect "a known row stops" (not (goes_on ~is_undecided:false known));
  expect "unless a claim is undecided" (goes_on ~is_undecided:true known);
  expect "but not without end"
    (not (goes_on ~is_undecided:true (noisy effort.most)));
  expect "a row stops when its time is over"
    (not (goes_on ~late:1.1 ~is_undecided:false fewest));
  expect "unless a claim is undecided"
    (goes_on ~late:1.1 ~is_undecided:true fewest);
  expect "but not for much longer"
    (not (goes_on ~late:4.1 ~is_undecided:true fewest));
  expect "although it needs a few samples"
    (goes_on ~late:4.1 ~is_undecided:false (noisy (effort.least - 1)))

(* --- Time --- *)

let comparison case n : Case.comparison =
  let row _ = row ~case (Case.Time (fun _ -> 0.)) in
  { title = case; baseline = row 0; others = List.init n row }

let load name : Case.comparison =
  let run ~crowd:_ ~seconds:_ ~rate:_ = [] and rate () = infinity in
  let amount = { Case.full = 2_000; quick = 500; least = 1 } in
  let sample =
    Case.Load { figure = Figure.us; nth = 0; name; ms = amount; rate; run }
  in
  { title = name; baseline = row ~case:name sample; others = [] }

let group name comparisons = { Case.name; doc = ""; comparisons }
let small = comparison "small" 1
let large = comparison "large" 7
let one = group "one" [ small; large ]
let two = group "two" [ load "same"; load "same" ]
let all = [ one; two ]

let () =
  let row = (load "load").baseline in
  let goes_on = goes_on ~row ~late:1.1 in
  let five = noisy (Effort.most effort row) in
  expect "a load has five samples" (not (goes_on ~is_undecided:false five));
  expect "and more for a verdict" (goes_on ~is_undecided:true five);
  expect "but not without end"
    (not
       (goes_on ~is_undecided:true (noisy (Effort.most_for_verdict effort row))))

let () =
  let budget = Budget.create effort ~all all in
  let of_small = Budget.share_s budget one small in
  let of_large = Budget.share_s budget one large in
  let of_load = Budget.share_s budget two (load "same") in
  let of_the_same = Budget.share_s budget two (load "same") in
  expect
    "a comparison with four times the rows has four times the share, and the \
     unused time"
    (of_large > 4. *. of_small);
  expect "the last comparison gets the unused time"
    (of_load > effort.run_s -. 1. && of_load <= effort.run_s);
  expect "several comparisons of one load have one share" (of_the_same = 0.)

let () =
  let effort = { effort with run_s = 1e-3; group_s = 0. } in
  let budget = Budget.create effort ~all [ one ] in
  let whole = Budget.share_s budget one small in
  let start = Meter.now () in
  while Meter.ns_since start < 1e9 *. effort.run_s do
    ()
  done;
  let late = Budget.share_s budget one large in
  expect "a late comparison still has a part" (late > whole)

(* A group that is measured alone gets its part of the time for all, but at least the
   minimum. *)
let () =
  let alone effort group =
    let budget = Budget.create effort ~all [ group ] in
    let share c = Budget.share_s budget group c in
    List.fold_left (fun _ c -> share c) 0. (List.rev group.comparisons)
  in
  expect "its part" (alone effort one < effort.run_s);
  expect "some time in any case"
    (let little = { effort with run_s = 1_000.; group_s = 900. } in
     alone little one > 890.)

(* --- Growth --- *)

let () =
  let growth costs = Growth.of_sizes costs in
  let flat = [ (10, 100.); (1_000, 250.); (100_000, 900.) ] in
  expect "slower memory does not count as growth" (Growth.is_flat (growth flat));
  let text = Growth.text (growth [ (1, 10.); (10, 20.); (100, 1_000.) ]) in
  expect
    ("a growth is reported: " ^ text)
    (text = "grows: 100.0x at 100; as n^1.00");
  expect "the size is read from the name" (Growth.size "domains-own-box-8" = 8)
