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
    "between" "nothing is lost if another thread acts between two steps"
    Operation_between.cases

let all (module O : OPERATION) =
  let ways = ways (module O) in
  let clause ?most ?(ways = ways) = clause (module O) ?most ways in
  let choice =
    {
      name = "choice";
      about = "an alternative that is not chosen has no effect";
      cases = Operation_choice.cases (module O);
    }
  in
  let open Operation_going in
  let open Operation_leaving in
  let open Operation_ends in
  [
    clause "S1" "block registers its resumer, or returns a value" block;
    clause "lock" "no lock is held in a wait, or while a resumer is called"
      Operation_lock.cases;
    clause "look" "a release just before the wait is not missed" look;
    clause "one" "a release lets the right number of tasks continue" how_many;
    clause "S2" "a resumer that returns false takes nothing" refusing;
    clause "S3" "a wait that raises has withdrawn its waiter" raising;
    clause "S4" "first come, first served" ~most:crowd order;
    clause "S5" "an exception keeps its backtrace" backtrace;
    clause "once" "a resumed task is not resumed again" once_only;
    clause "signal" "a release that a signal interrupts loses no waiter" signal;
    clause "count" "the count of waiters is right" ~most:30 count;
    clause "close" "closing reaches all tasks that wait or come later" close;
    choice;
    clause "sides" "a choice that offers both sides does not meet itself"
      ~ways:[ direct ] Operation_sides.cases;
    clause "bound" "the capacity stays as it was at first" ~ways:[ direct ]
      Operation_bound.cases;
    clause "memory" "waits leave nothing behind in memory"
      ~most:(Operation_crowds.many + 10)
      Operation_crowds.memory;
    clause "fair" "tasks that wait in a loop are served equally often"
      Operation_crowds.fairness;
  ]
