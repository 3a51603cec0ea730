(* A row without a result is left out and reported, and the others are measured. *)

open Concord_bench

let group = List.find (fun g -> g.Case.name = "effect") Groups.all
let measured = List.hd group.comparisons
let unknown = { measured.baseline with impl = "nobody" }

let measure baseline others =
  Measure.comparison Effort.smoke ~patience_s:infinity group
    { measured with baseline; others }
  |> List.map (fun (result : Measure.result) -> result.row.impl)

let expect what expected found =
  if found <> expected then begin
    Printf.printf "%s: %s\n" what (String.concat ", " found);
    exit 1
  end

let () =
  let known = measured.baseline in
  expect "nothing has failed" [] (Measure.failures ());
  expect "the others are measured" [ known.impl ] (measure known [ unknown ]);
  expect "it is told"
    [
      Printf.sprintf "%s %s %s@%s: the process ended before its result"
        group.name unknown.case unknown.impl unknown.host;
    ]
    (Measure.failures ());
  expect "it is not tried again" [ known.impl ] (measure known [ unknown ]);
  expect "once" [ "1" ] [ string_of_int (List.length (Measure.failures ())) ];
  expect "without the baseline" [] (measure unknown [ known ])
