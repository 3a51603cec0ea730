type service = Operation_signature.service =
  | Signals
  | Takes
  | Gives
  | Trades
  | Shares
  | Passes
  | Meets

module type OPERATION = Operation_signature.OPERATION

module Clauses = Operation_clauses

module Defaults = struct
  let keeps = true
  let in_order = true
  let interruptible = false
  let repeats = true
  let event = None
  let release_event = None
  let waiters = None
  let close = None
  let fail = None
end

let storms ~seed ~seconds operation =
  let storm name about spread =
    let run () = Operation_storm.run ~seed ~seconds operation spread in
    { Clauses.name; about; cases = [ { Trial.title = "at random"; run } ] }
  in
  [
    storm "storm" "nothing is lost in random waits, releases and cancellations"
      Operation_storm.Together;
    storm "domains" "the same, with releases from another domain"
      Operation_storm.Domains;
    storm "threads" "the same, in system threads" Operation_storm.Threads;
  ]

(* In seconds. Every case that ends at all takes less than this. *)
let limit = 10.

let check ?seed ?(seconds = 1.) (module O : OPERATION) =
  Trial.check_seconds "Operation.check" seconds;
  let seed = Trial.seed seed in
  let share = seconds /. 3. in
  (* The reason why the other clauses are skipped. *)
  let skipped = ref None in
  let line ~limit { Clauses.name; about; cases } =
    let verdict =
      match !skipped with
      | Some why -> Report.Not_offered why
      | None ->
          let begun = Unix.gettimeofday () in
          let verdict = Operation_run.verdict ~seconds:limit cases in
          if Unix.gettimeofday () -. begun >= limit then
            skipped := Some (Printf.sprintf "skipped, because %s hangs" name);
          verdict
    in
    { Report.clause = name; about; advice = []; verdict }
  in
  let skip_if_broken lines =
    match Report.broken { Report.subject = O.name; seed; lines } with
    | name :: _ when !skipped = None ->
        skipped := Some (Printf.sprintf "skipped, because %s is broken" name)
    | _ -> ()
  in
  let exact = List.map (line ~limit) (Clauses.all (module O)) in
  skip_if_broken exact;
  let between = line ~limit:(3. *. limit) (Clauses.between (module O)) in
  skip_if_broken [ between ];
  let storms = storms ~seed ~seconds:share (module O) in
  let random = List.map (line ~limit:(limit +. share)) storms in
  { Report.subject = O.name; seed; lines = exact @ (between :: random) }

let main ?seed ?seconds operation =
  let report =
    try check ?seed ?seconds operation
    with Invalid_argument text ->
      prerr_endline text;
      exit 2
  in
  Report.print report;
  exit (if Report.passed report then 0 else 1)

let cases operation =
  let named { Clauses.name; cases; _ } =
    let case { Trial.title; run } =
      ( name ^ ", " ^ title,
        fun () -> try run () with Trial.Not_offered _ -> () )
    in
    List.map case cases
  in
  List.concat_map named (Clauses.all operation @ [ Clauses.between operation ])
