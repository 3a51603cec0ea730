(* Section 7 of "Effectively Composing Concurrency Libraries", chapter 6 of the thesis. *)

open Paper

let subject group case row = { Claim.group; case; row }

(* The paper says "on par" and "no additional overhead". *)
let on_par = 1. /. 1.05

(* --- Table 1 --- *)

let table_1 =
  let serial = "table1-serial" and parallel = "table1-parallel" in
  let mvar case row = subject "mvar" case row in
  let printed case row us =
    {
      Picture.subject = mvar case row;
      value = us;
      text = Printf.sprintf "%.2f us" us;
    }
  in
  let printed =
    [
      printed serial "eio@eio" 1.63;
      printed parallel "eio@eio" 4.39;
      printed serial "concord@eio" 1.51;
      printed parallel "concord@eio" 4.15;
    ]
  in
  {
    title = "Table 1: one message from a producer to a consumer";
    measured =
      "An MVar between two fibers of Eio, on 1 domain (serial) and on 2 \
       (parallel), against a stream of Eio's of capacity 1; beside it the same \
       MVar in the Fifo scheduler and Lwt's. The plug-in for Eio is linked, \
       but for the rows eio-unlinked. The cases table1 have the paper's number \
       of messages or, with little effort, the one in their titles; the other \
       two as many as fit in a sample.";
    claimed =
      "The shared MVar is on par with the stream that Eio has for itself. A \
       message between domains is dearer, as they are parked and woken.";
    tables = [ ("mvar", any) ];
    printed;
    claims =
      [
        Claim.at_least on_par
          ~says:"On one domain an MVar is at most 5 % slower than Eio's stream"
          [ (mvar serial "concord@eio", mvar serial "eio@eio") ];
        Claim.at_least on_par
          ~says:
            "Between domains an MVar is at most 5 % slower than Eio's stream"
          [ (mvar parallel "concord@eio", mvar parallel "eio@eio") ];
        Claim.at_least 1.
          ~says:"A message between domains is dearer than on one"
          [
            (mvar serial "eio@eio", mvar parallel "eio@eio");
            (mvar serial "concord@eio", mvar parallel "concord@eio");
          ];
      ];
    pictures =
      Picture.cases ~file:"table-1"
        ~caption:
          "One message: medians and quartiles, beside the paper's figures."
        ~group:"mvar" ~cases:[ serial; parallel ] ~printed;
    remarks =
      [
        "The paper's machine is a Xeon 5120 at 2.2 GHz with 28 cores, OCaml \
         5.0.0 and Eio 0.6: compare the ratios, not the times.";
        "Between domains a row on Eio measures mostly how long the system \
         takes to wake a sleeping thread.";
      ];
  }

(* --- Figures 8 and 9 --- *)

let composed = "composed"

(* [impl] against others, in each comparison that has both. *)
let against impl others (comparison : Results.comparison) =
  let rows = comparison.baseline :: comparison.others in
  match List.find_opt (fun (r : Results.row) -> r.impl = impl) rows with
  | None -> []
  | Some row ->
      List.filter (fun (r : Results.row) -> List.mem r.impl others) rows
      |> List.map (fun other -> (row, other))

(* Some variant answers what it is offered where that is less than the machine can
   compute; unless the machine has slowed down since that was measured. *)
let as_fast_as_calibrated ~group case =
  let finding (comparison : Results.comparison) =
    let best =
      List.fold_left
        (fun (best : Results.row) row ->
          if Results.median row > Results.median best then row else best)
        comparison.baseline comparison.others
    in
    let what = Claim.label best in
    match Results.answered best with
    | Some ((first, median, third) as part) when Results.has_spread best ->
        {
          Claim.verdict = Claim.verdict_of_ratio ~limit:on_par part;
          what =
            Printf.sprintf "%s answered %.2f of the requests [%.2f %.2f]" what
              median first third;
        }
    | Some _ -> { verdict = Missing; what = what ^ ": too few samples" }
    | None -> { verdict = Missing; what = what ^ ": what was due is not known" }
  in
  {
    Claim.says =
      "Up to 75 % of the capacity some variant answers at least 95 % of the \
       requests; if not, the machine was slower than calibrated in the turn \
       (ours, not the paper's claim)";
    findings =
      (fun results ->
        List.assoc_opt group (Results.groups results)
        |> Option.value ~default:[]
        |> List.filter (fun (c : Results.comparison) -> case c.baseline.case)
        |> List.map finding);
  }

let recommended = [ "executor-pool"; "eio-promise" ]

let fibonacci =
  let group = "fib" in
  let claim ?(than = [ "domain-manager" ]) limit case says =
    Claim.of_comparisons limit ~says ~group ~case (against composed than)
  in
  let over_domains figure =
    List.map
      (fun domains -> Printf.sprintf "%s-domains-%s" figure domains)
      [ "1"; "cores"; "2x-cores" ]
  in
  let at_loads loads =
    one_of (List.map (fun load -> Printf.sprintf "p90-load-%d" load) loads)
  in
  {
    title = "Figures 8 and 9: the Fibonacci server";
    measured =
      "A server whose requests each compute a Fibonacci number; requests are \
       due at a constant rate and wait for nobody (an open loop). Over the \
       domains of the server, at three quarters of what the machine can \
       compute, and over the load in percent of that, with as many domains as \
       cores. What the machine can compute is measured at the start of each \
       turn, for all rows of the turn, as it changes with what else runs. The \
       title of a table has the number and the rates; results.json has the \
       rate of each turn (offered). Variants: composed \
       (Concord_domainslib.submit), as-printed (T.async and Promise.fill, as \
       the paper prints it), mvar (the paper's, by MVars), blocking, \
       domain-manager, and what Eio recommends: executor-pool, and \
       eio-promise, which a task of Domainslib resolves.";
    claimed =
      "Eio composed with Domainslib has the higher throughput and the lower \
       p90 than Eio's domain manager, over 1 to 24 cores at 3000 requests per \
       minute and over the load offered to 24 cores, as a request is itself \
       computed in parallel. All requests compute the 45th number.";
    tables = [ (group, any) ];
    printed = [];
    claims =
      [
        claim on_par
          (prefixed [ "throughput" ])
          "The composed server answers at least 95 % of the requests that the \
           domain manager does, at every point";
        claim 1. (prefixed [ "p90" ])
          "The composed server's p90 is lower than the domain manager's, at \
           every point";
        claim 1.
          (at_loads [ 75; 100; 125 ])
          "The composed server's p90 is lower than the domain manager's, at \
           loads above half of the capacity (ours, not the paper's claim)";
        claim on_par ~than:recommended (prefixed [ "p90" ])
          "The composed server's p90 is at most 5 % above that of what Eio \
           recommends, at every point (ours, not the paper's claim)";
        claim on_par ~than:[ "as-printed"; "mvar" ] (prefixed [ "p90" ])
          "The composed server's p90 is at most 5 % above that of the paper's \
           programs (ours, not the paper's claim)";
        as_fast_as_calibrated ~group
          (one_of
             (List.map (( ^ ) "throughput-")
                [
                  "load-25";
                  "load-50";
                  "load-75";
                  "domains-cores";
                  "domains-2x-cores";
                ]));
      ];
    pictures =
      (fun results ->
        let domains figure caption =
          Picture.cases
            ~file:(Printf.sprintf "fib-%s-domains" figure)
            ~caption ~group ~cases:(over_domains figure) results
        and loads figure caption =
          Picture.curves
            ~file:(Printf.sprintf "fib-%s-load" figure)
            ~caption ~x:"load offered, percent of the capacity in each turn"
            ~group ~prefix:(figure ^ "-load") results
        in
        domains "throughput" "Figure 8a: throughput over domains."
        @ loads "throughput" "Figure 8b: throughput over the load offered."
        @ domains "p90" "Figure 9a: p90 over domains, in microseconds."
        @ loads "p90" "Figure 9b: p90 over the load offered, in microseconds.");
    remarks =
      [
        "The text of the paper gives no figures for these pictures, only the \
         claim.";
        "The server, the load and all that they start share the cores. More \
         domains than cores is not what the paper measured.";
      ];
  }

(* --- Figure 10 --- *)

(* Nothing is cancelled in the baseline. Rows absent have fewer tasks from the start. *)

let is_part (row : Results.row) = String.ends_with ~suffix:"%" row.impl

let with_baseline (comparison : Results.comparison) =
  List.filter is_part comparison.others
  |> List.map (fun row -> (row, comparison.baseline))

let with_absent (comparison : Results.comparison) =
  let find impl =
    List.find_opt (fun (r : Results.row) -> r.impl = impl) comparison.others
  in
  List.concat_map
    (fun (row : Results.row) ->
      match find (row.impl ^ "-absent") with
      | Some absent -> [ (row, absent) ]
      | None -> [])
    comparison.others

(* Concord's structures; the others are for comparison. *)
let is_ours case = not (String.ends_with ~suffix:"-stream" case)

let cancellation =
  let group = "cancel-cost" in
  {
    title = "Figure 10: what cancelling costs";
    measured =
      "Producers on one domain and consumers on another exchange 50,000 items, \
       with 10,000 tasks: one producer (SPMC), one consumer (MPSC), half of \
       each (MPMC). Of the tasks, 0, 10, 20 or 30 % are cancelled and unwound; \
       the items are the same number. Rows absent have so many tasks fewer \
       from the start, and nothing is cancelled.";
    claimed =
      "Cancelling makes the run at most 5 % slower than the run in which \
       nothing is cancelled, and often faster, as fewer tasks do the same \
       work.";
    tables = [ (group, any) ];
    printed = [];
    claims =
      [
        Claim.of_comparisons on_par ~group ~case:is_ours with_baseline
          ~says:"With cancellations a run is at most 5 % slower than without";
        Claim.of_comparisons 1. ~group ~case:is_ours with_baseline
          ~says:
            "With cancellations a run is no slower than without (ours, not the \
             paper's claim)";
        Claim.of_comparisons on_par ~group ~case:is_ours with_absent
          ~says:
            "With cancellations a run is at most 5 % slower than if those \
             tasks had never been there (ours, not the paper's claim)";
      ];
    pictures = Picture.ratios ~group ~series:(fun row -> row.impl);
    remarks =
      [
        "The text of the paper gives one figure, the 5 %. A cancelled task of \
         the paper is dropped and not unwound: it runs no finaliser, and its \
         exception reaches nobody.";
      ];
  }

let paper =
  {
    name =
      "Composing concurrency libraries (the paper, section 7; the thesis, \
       chapter 6)";
    machine =
      "There: Intel Xeon 5120, 2 sockets, 28 cores at 2.2 GHz, 64 GB, Ubuntu \
       20.04, OCaml 5.0.0, Eio 0.6.";
    parts = [ table_1; fibonacci; cancellation ] @ Motivated.parts;
  }
