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
  expect "the other rows are measured" [ known.impl ]
    (measure known [ unknown ]);
  expect "the failure is reported"
    [
      Printf.sprintf "%s %s %s@%s: the process ended before its result"
        group.name unknown.case unknown.impl unknown.host;
    ]
    (Measure.failures ());
  expect "the row is not measured again" [ known.impl ]
    (measure known [ unknown ]);
  expect "the failure is reported once" [ "1" ]
    [ string_of_int (List.length (Measure.failures ())) ];
  expect "without a baseline there are no results" []
    (measure unknown [ known ])
