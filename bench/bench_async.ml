open Case

let concord case =
  row ~program:Async ~case ~impl:"concord" ~host:"async" elsewhere

let serial =
  let case = "serial" in
  {
    title = "one message of a producer to a consumer, two tasks of Async";
    baseline = async case elsewhere;
    others = [ concord case ];
  }

let pipe capacity =
  let case = Printf.sprintf "pipe%d-serial" capacity in
  {
    title =
      Printf.sprintf
        "the same through Async's Pipe with a budget of %d, or a stream"
        capacity;
    baseline = async case elsewhere;
    others = [ concord case ];
  }

let ivar =
  let case = "ivar" in
  {
    title = "a task of Async awaits a fresh ivar, or promise, and fills it";
    baseline = async case elsewhere;
    others = [ concord case ];
  }

let choose =
  let case = "choose" in
  {
    title = "one message to a task that chooses between two Mvars";
    baseline = async case elsewhere;
    others = [ concord case ];
  }

let group =
  {
    name = "async";
    doc = "Async: between its tasks, structures against its own";
    comparisons = beside [ serial; pipe 1; pipe 100; pipe 10_000; ivar; choose ];
  }
