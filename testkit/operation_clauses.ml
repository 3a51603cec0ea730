open Operation_signature
open Operation_scene

type clause = { name : string; about : string; cases : Trial.case list }

let clause (module O : OPERATION) ?most ways name about cases =
  let case way (title, f) =
    let run () = f (create ?most (module O) way) in
    { Trial.title = title ^ way.title; run }
  in
  let cases = List.concat_map (fun way -> List.map (case way) cases) ways in
  { name; about; cases }

let between (module O : OPERATION) =
  clause
    (module O)
    (ways (module O))
    "between" "what comes between two steps of it loses nothing"
    Operation_between.cases

let all (module O : OPERATION) =
  let ways = ways (module O) in
  let clause ?most ?(ways = ways) = clause (module O) ?most ways in
  let choice =
    {
      name = "choice";
      about = "what is not chosen is not performed";
      cases = Operation_choice.cases (module O);
    }
  in
  let open Operation_going in
  let open Operation_leaving in
  let open Operation_ends in
  [
    clause "S1" "block registers, or returns a value" block;
    clause "lock" "no lock is held in a wait or a resumer" Operation_lock.cases;
    clause "look" "a release just before the wait counts" look;
    clause "one" "a release lets as many go on as it says" how_many;
    clause "S2" "a resumer that refuses takes nothing" refusing;
    clause "S3" "a wait that raises has left" raising;
    clause "S4" "first come, first served" order;
    clause "S5" "an exception keeps its backtrace" backtrace;
    clause "once" "whoever was resumed is not resumed again" once_only;
    clause "signal" "an interrupted release loses nobody" signal;
    clause "count" "it counts those who wait" count;
    clause "close" "its end reaches all who wait or come" close;
    choice;
    clause "sides" "a choice of both its sides does not meet itself"
      ~ways:[ direct ] Operation_sides.cases;
    clause "bound" "its bound stays as it was at first" ~ways:[ direct ]
      Operation_bound.cases;
    clause "memory" "cancelled waits leave nothing"
      ~most:(Operation_crowds.many + 10)
      Operation_crowds.memory;
    clause "fair" "in a loop, each task has its turn" Operation_crowds.fairness;
  ]
