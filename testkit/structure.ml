module type STRUCTURE = Structure_signature.STRUCTURE

(* How often a race is repeated. *)
let often = 20

let repeat while_ f =
  let rec go n =
    if while_ n then begin
      f ();
      Trial.alive ();
      go (n + 1)
    end
  in
  go 0

let run_programs while_ random (module S : STRUCTURE) =
  let module Programs = Structure_programs.Make (S) in
  repeat while_ (fun () -> Programs.check random)

let run_races while_ random (module S : STRUCTURE) =
  let module Races = Structure_races.Make (S) in
  Structure_races.with_worker (fun together ->
      repeat while_ (fun () -> Races.check ~often together random))

let programs random structure n = run_programs (fun i -> i < n) random structure
let races random structure n = run_races (fun i -> i < n) random structure

(* In seconds. *)
let limit = 10.

(* These are run even if the time is up, because a busy machine may run few. *)
let fewest = 20

let check ?seed ?(seconds = 1.) (module S : STRUCTURE) =
  Trial.check_seconds "Structure.check" seconds;
  let seed = Trial.seed seed in
  let line clause about run =
    let share = seconds /. 2. in
    let run () =
      let deadline = Unix.gettimeofday () +. share in
      run
        (fun n -> n < fewest || Unix.gettimeofday () < deadline)
        (Random.State.make [| seed |])
        (module S : STRUCTURE)
    in
    let cases = [ Trial.case "at random" run ] in
    let verdict = Operation_run.verdict ~seconds:(limit +. share) cases in
    { Report.clause; about; advice = []; verdict }
  in
  let programs =
    line "programs" "random programs do what the description says" run_programs
  in
  let races =
    line "races" "on two domains each operation is a single step" run_races
  in
  { Report.subject = S.name; seed; lines = [ programs; races ] }

let main ?seed ?seconds structure =
  let report =
    try check ?seed ?seconds structure
    with Invalid_argument text ->
      prerr_endline text;
      exit 2
  in
  Report.print report;
  exit (if Report.passed report then 0 else 1)
