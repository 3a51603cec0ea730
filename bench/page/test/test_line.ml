(* Tests the form of a line. A negligible difference is not printed, and neither are figures
   that contradict their ratio. *)

open Bench_page

let row = By_hand.row
let base = row "eio" "eio" [ 100.; 101.; 99.; 100.; 102. ]
let line ?(base = base) row = Option.get (Line.of_row ~base row)

let print title lines =
  Printf.printf "%s:\n%s\n" title
    (try Line.table lines with Line.Contradiction reason -> reason ^ "\n")

let against_base title rows =
  print title (Line.of_baseline base :: List.map line rows)

let () =
  against_base "A difference, in both directions, and none"
    [
      row "faster" "fifo" [ 50.; 51.; 49.; 50.; 50. ];
      row "slower" "fifo" [ 1500.; 1510.; 1490.; 1500.; 1500. ];
      row "reaches-1" "fifo" [ 90.; 120.; 80.; 110.; 100. ];
      row "within-3-percent" "fifo" [ 102.; 103.; 101.; 102.; 104. ];
    ];
  let restless = row "eio" "eio" [ 100.; 200.; 100.; 200.; 100. ] in
  print "The machine's speed changes by a factor of 2 from turn to turn"
    [
      Line.of_baseline restless;
      line ~base:restless
        (row "under-the-drift" "fifo" [ 150.; 300.; 150.; 300.; 150. ]);
      line ~base:restless
        (row "beyond-it" "fifo" [ 250.; 500.; 250.; 500.; 250. ]);
    ];
  (* This row was measured while the machine was fast. So its median (150) is less than that of
     the baseline (200), and only the ratio is right. *)
  let long = row "eio" "eio" [ 100.; 101.; 100.; 200.; 200.; 201.; 200. ] in
  print "A row that dropped out before the machine became slow"
    [
      Line.of_baseline long;
      line ~base:long (row "short" "fifo" [ 150.; 151.; 150. ]);
    ];
  let rate = row ~unit_:"req/s" in
  let base = rate "eio" "eio" [ 1000.; 1010.; 990. ] in
  print "Of a rate more is better, and its time is less"
    [
      Line.of_baseline base;
      line ~base (rate "faster" "fifo" [ 2000.; 2020.; 1980. ]);
    ];
  let answers offered samples =
    { (rate "eio" "eio" samples) with offered = Array.of_list offered }
  in
  let base = answers [ 100.; 200.; 100.; 200. ] [ 100.; 200.; 100.; 200. ] in
  print "Twice as many requests are due in every other turn"
    [
      Line.of_baseline base;
      line ~base (rate "fewer" "fifo" [ 90.; 180.; 90.; 180. ]);
    ];
  let as_measured absolute =
    let made = line (row "made" "up" [ 150.; 150.; 150. ]) in
    [
      Line.of_baseline By_hand.(row "eio" "eio" [ 100.; 100.; 100. ]);
      { made with absolute };
    ]
  in
  print "An absolute figure that says the contrary of its ratio"
    (as_measured 90.);
  print "One that says another ratio" (as_measured 300.);
  let is_none what row =
    if Line.of_row ~base:(By_hand.row "eio" "eio" [ 1.; 1.; 1. ]) row <> None
    then failwith what
  in
  is_none "two turns" (row "few" "fifo" [ 1.; 1. ]);
  is_none "another comparison" (row ~comparison:1 "other" "fifo" [ 1.; 1.; 1. ]);
  is_none "another unit" (rate "unit" "fifo" [ 1.; 1.; 1. ]);
  print_endline "Beside each other:";
  print_string
    (Line.beside ~corner:"case" ~columns:[ "Eio"; "fifo"; "none" ]
       [
         ( "a message",
           Line.of_baseline By_hand.(row "eio" "eio" [ 100.; 101.; 99.; 100. ]),
           [ Some (line (row "f" "fifo" [ 50.; 51.; 49. ])); None ] );
       ]);
  let of_groups command groups =
    let row group = { (row "eio" "eio" [ 1. ]) with group } in
    { (By_hand.run (List.map row groups)) with command }
  in
  print_endline "Runs, of which the second was stopped before its last group:";
  print_string
    (List.assoc "runs" Tables.all
       [ of_groups "bench a b" [ "a"; "b" ]; of_groups "bench c a" [ "c" ] ])
