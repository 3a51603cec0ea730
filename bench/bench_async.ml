open Case

let serial =
  let case = "serial" in
  {
    title = "one message of a producer to a consumer, two tasks of Async";
    baseline = async case elsewhere;
    others =
      [ row ~program:Async ~case ~impl:"concord" ~host:"async" elsewhere ];
  }

let group =
  {
    name = "async";
    doc = "Async: between its tasks, Mvar against its own";
    comparisons = beside [ serial ];
  }
