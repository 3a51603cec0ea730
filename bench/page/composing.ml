(* Section 7 of "Effectively Composing Concurrency Libraries", chapter 6 of the thesis, and
   claims that the paper makes without a measurement. *)

open Paper

(* The paper writes "on par" and "no additional overhead". *)
let on_par = 1.05

(* --- Table 1 --- *)

let table_1 =
  let at case row = subject "mvar" ("table1-" ^ case) row in
  let level ~says case row =
    Claim.at_most on_par
      ~says:
        (Printf.sprintf
           "%s an MVar takes at most 1.05 of Eio's stream, %s `concord-eio`"
           says
           (if row = "concord@eio" then "with" else "without"))
      [ (at case row, at case "eio@eio") ]
  in
  let dearer row =
    Claim.at_most 1.
      ~says:("A message on one domain takes less than between two: " ^ row)
      [ (at "serial" row, at "parallel" row) ]
  in
  {
    title = "Table 1: a message";
    claims =
      List.concat_map
        (fun row ->
          [
            level "serial" row ~says:"On one domain";
            level "parallel" row ~says:"Between domains";
          ])
        [ "concord@eio"; "concord@eio-unlinked" ]
      @ List.map dearer [ "eio@eio"; "concord@eio" ];
    charts =
      Chart.times ~file:"table-1" ~group:"mvar"
        ~only:(fun _ -> true)
        [ ("table1-serial", "one domain"); ("table1-parallel", "two domains") ];
  }

(* --- Figures 8 and 9 --- *)

(* Returns [impl] and the others for each comparison that has both. *)
let impl_and impl others (comparison : Results.comparison) =
  let rows = comparison.baseline :: comparison.others in
  match List.find_opt (fun (r : Results.row) -> r.impl = impl) rows with
  | None -> []
  | Some row ->
      List.filter (fun (r : Results.row) -> List.mem r.impl others) rows
      |> List.map (fun other -> (row, other))

(* The paper did not measure more domains than cores. *)
let more_domains (c : Results.comparison) =
  String.ends_with ~suffix:"more domains than cores" c.title

let drawn figure =
  if figure = "small-p90" then [ "composed"; "domain-manager"; "blocking" ]
  else
    [ "composed"; "unsplit"; "long-lived"; "domain-manager"; "executor-pool" ]

let fibonacci =
  let group = "fib" in
  let claim ?(of_ = "composed") ?(than = [ "domain-manager" ]) ?(more = false)
      limit prefix says =
    Claim.of_comparisons limit ~says ~group
      ~case:(fun c -> prefixed prefix c && more_domains c = more)
      (impl_and of_ than)
  and p90 row domains =
    subject group (Printf.sprintf "p90-domains-%d" domains) row
  in
  let composed = p90 "composed@eio" and manager = p90 "domain-manager@eio" in
  {
    title = "Figures 8 and 9: the Fibonacci server";
    claims =
      [
        claim 1. "throughput-domains"
          "The composed server answers more requests than the domain manager, \
           over the domains up to the cores (\"scales better\")";
        claim 1. "throughput-load" "The same, over the load";
        claim on_par "throughput-domains"
          "Ours: the composed server answers as many requests as the domain \
           manager (at least 1 / 1.05), over the domains up to the cores";
        claim on_par "throughput-load" "Ours: the same, over the load";
        claim on_par "throughput-load" ~of_:"long-lived"
          "Ours: the same, if each domain of the pool has one long-lived task";
        claim on_par "throughput-domains" ~more:true
          "Ours: the composed server answers as many, with more domains than \
           cores";
        claim 1. "p90-domains"
          "Its p90 is lower than the domain manager's, over the domains up to \
           the cores";
        claim 1. "p90-load" "The same, over the load";
        Claim.apart 1.
          ~says:"The composed server's p90 is lower on 2 domains than on 1"
          [ (Row (composed 2), Row (composed 1)) ];
        Claim.apart 1.
          ~says:
            "It falls faster than the domain manager's: in proportion to that, \
             it is lower on 2 domains than on 1"
          [ (Ratio (composed 2, manager 2), Ratio (composed 1, manager 1)) ];
        claim on_par "p90-load"
          ~than:[ "executor-pool"; "eio-promise" ]
          "Ours: its p90 is at most 1.05 of that of what Eio recommends, over \
           the load";
        claim 1. "small-p90-load" ~than:[ "blocking" ]
          "The paper's motive: beside large requests, the composed server \
           answers a small one sooner than the server of figure 1, which \
           blocks its domain while it computes";
        claim on_par "throughput-load" ~than:[ "unsplit" ]
          "Ours: splitting a request costs at most 1.05 in throughput";
      ];
    charts =
      (fun results ->
        List.concat_map
          (fun (figure, scale) ->
            List.concat_map
              (fun (over, x) ->
                Chart.curves
                  ~file:(Printf.sprintf "fib-%s-%s" figure over)
                  ~x ~group
                  ~prefix:(figure ^ "-" ^ over)
                  ~only:(fun row -> List.mem row.impl (drawn figure))
                  ~scale results)
              [
                ("domains", "domains");
                ("load", "requests due, percent of what the machine computes");
              ])
          [
            ("throughput", (1., "answered per second"));
            ("p90", (1e3, "p90, ms since the request was due"));
            ("small-p90", (1e3, "p90 of a small request, ms since it was due"));
          ]);
  }

(* --- Figure 10 --- *)

let is_part (row : Results.row) = String.ends_with ~suffix:"%" row.impl

let with_baseline (comparison : Results.comparison) =
  List.filter is_part comparison.others
  |> List.map (fun row -> (row, comparison.baseline))

(* The same, with a row in which those tasks never existed. *)
let with_absent (comparison : Results.comparison) =
  let absent (row : Results.row) =
    List.find_opt
      (fun (r : Results.row) -> r.impl = row.impl ^ "-absent")
      comparison.others
    |> Option.map (fun absent -> (row, absent))
  in
  List.filter_map absent comparison.others

let cancellation =
  let group = "cancel-cost" in
  let claim ?(limit = on_par) hosts pairs says =
    Claim.of_comparisons limit ~group ~says
      ~case:(fun c ->
        List.exists
          (fun suffix -> String.ends_with ~suffix c.baseline.case)
          hosts)
      pairs
  in
  let fifo = [ "-fifo"; "-fifo-lazy" ] and eio = [ "-eio" ] in
  let patterns host =
    List.map
      (fun pattern ->
        (pattern ^ "-" ^ host, String.uppercase_ascii pattern ^ ", " ^ host))
      [ "spmc"; "mpsc"; "mpmc" ]
  in
  {
    title = "Figure 10: what cancelling costs";
    claims =
      [
        claim fifo with_baseline
          "With cancellations a run takes at most 1.05 of the time, Fifo";
        claim eio with_baseline "The same, Eio";
        claim ~limit:1. (fifo @ eio) with_baseline
          "Runs with cancellations are faster than those without";
        claim (fifo @ eio) with_absent
          "Ours: a run takes at most 1.05 of what it takes if those tasks were \
           never there";
      ];
    charts =
      Chart.times ~file:"cancelling" ~group ~only:is_part
        ~series:(fun row -> row.impl)
        (patterns "fifo" @ patterns "eio");
  }

(* --- Claims without a measurement in the paper --- *)

let motivated =
  let search host =
    ( subject "search" "search" ("concord@" ^ host),
      subject "search" "search" "uncancelled@domain" )
  and bridge case peer =
    ( subject "bridge" case "concord-mvar@eio-lwt",
      subject "bridge" case (peer ^ "@eio-lwt") )
  and inbox case =
    (subject "lwt" case "concord@eio-lwt", subject "lwt" case "naive@eio-lwt")
  and lazy_ case =
    ( subject "lazy" case "concord@domain",
      subject "lazy" case "stdlib-mutex@domain" )
  in
  let query base clients =
    let case = Printf.sprintf "query-%d" clients in
    ( subject "caqti" case "concord@eio-caqti",
      subject "caqti" case (base ^ "caqti") )
  in
  let fifo_and_others (c : Results.comparison) =
    List.map (fun other -> (c.baseline, other)) c.others
  in
  let bridges = [ "round-trip"; "eio-to-lwt"; "lwt-to-eio"; "both-ways" ] in
  let faster says pairs = Claim.at_most 1. ~says pairs in
  {
    title = "Sections 1, 5 and 6, which the paper does not measure";
    claims =
      [
        faster "A search that is cancelled ends before one that is not"
          (List.map search [ "fifo"; "domainslib" ]);
        faster "Between Lwt and Eio an MVar is faster than a pipe"
          (List.map (fun case -> bridge case "pipe") bridges);
        faster "It is faster than a pipe with buffers"
          (List.map (fun case -> bridge case "pipe-buffered") bridges);
        faster "A structure is faster than an inbox made by hand"
          (List.map inbox [ "eio-to-lwt"; "lwt-to-eio" ]);
        Claim.at_most 1.05
          ~says:
            "Ours: a query from Eio through caqti takes at most 1.05 of one \
             whose crossing is made by hand"
          (List.map (query "by-hand@eio-") [ 4; 16 ]);
        Claim.at_most 1.05
          ~says:"Ours: the same, of one in plain Lwt, which crosses no domain"
          (List.map (query "lwt@") [ 4; 16 ]);
        Claim.of_comparisons 1. ~group:"policy"
          ~case:(prefixed "policy-requests")
          ~says:
            "A web server wants first in, first out, which has the lowest \
             latency (here beside jobs that compute)"
          fifo_and_others;
        faster "A forced lazy value is cheaper than one behind a mutex"
          [ lazy_ "forced" ];
        faster "The first force is cheaper than one behind a mutex"
          [ lazy_ "first-force" ];
      ];
    charts =
      Chart.times ~file:"bridge" ~group:"bridge"
        ~only:(fun _ -> true)
        (List.map (fun case -> (case, case)) bridges);
  }

let paper =
  {
    name = "Effectively Composing Concurrency Libraries";
    parts = [ table_1; fibonacci; cancellation; motivated ];
  }
