(* Figures 8 and 9 of "Effectively Composing Concurrency Libraries": requests for a
   Fibonacci number are due at a constant rate, whether or not the ones before have been
   answered, and the server works on all that came. (That of the paper's own benchmark
   serves one request at a time.) Each sample has a server of its own: one that was asked
   for too much has work left. To start it, the load, and to stop it have limits, which
   are in sum shorter than a worker may take: so none is left behind. *)

open Case
open Fib_measure

(* --- The load --- *)

type machine = { n : int; cost_ms : float; capacity : float }

let cores = Domain.recommended_domain_count ()

(* Seconds. The requests of a short sample should be many, and the time that waking a
   process takes little of each. *)
let enough = 0.02

(* All rows have the same, and each is measured in a process of its own. *)
let variable = "CONCORD_BENCH_FIB"

let measure (effort : Measure.effort) =
  if effort.sample_ms = None then { n = 20; cost_ms = 0.03; capacity = 4_000. }
  else
    let { Calibrate.n; cost; capacity } =
      Calibrate.measure ~enough ~domains:cores ()
    in
    { n; cost_ms = 1e3 *. cost; capacity }

let tell { n; cost_ms; capacity } =
  Unix.putenv variable (Printf.sprintf "%d %h %h" n cost_ms capacity)

let machine () =
  Scanf.sscanf (Unix.getenv variable) "%d %h %h" (fun n cost_ms capacity ->
      { n; cost_ms; capacity })

(* --- One sample --- *)

let binary =
  Filename.concat
    (Filename.dirname Sys.executable_name)
    "../examples/fib_server/fib_server.exe"

(* Enough for requests that pile up. *)
let connections = 200

(* A percentile is one of so many latencies, or more. *)
let fewest = 10.

let answers variant ~domains ~percent ~crowd ~seconds =
  let { n; capacity; _ } = machine () in
  let path = Printf.sprintf "/fib/%d" n
  and rate = float percent /. 100. *. capacity in
  let seconds = Float.max seconds (fewest /. rate) in
  let results =
    Eio_main.run @@ fun env ->
    Server_process.with_server env ~binary ~variant ~domains @@ fun server ->
    let connect ~sw =
      Http_load.Client.connect ~sw env#net (Server_process.address server)
    in
    Http_load.Load.run ~clock:env#mono_clock ~connect
      ~connections:(Int.min crowd connections)
      ~warm_up:(0.2 *. seconds) ~seconds
      [ { path; rate } ]
  in
  match results with
  | [ { failures = []; per_second; latency; _ } ] ->
      [ per_second; 1e3 *. latency 0.9 ]
  | { failures = failure :: _; _ } :: _ -> failwith failure
  | _ -> assert false (* one result for one stream *)

(* --- Rows --- *)

(* The first is what the others are compared with. *)
let variants =
  [
    "composed";
    "blocking";
    "domain-manager";
    "executor-pool";
    "eio-promise";
    "as-printed";
    "mvar";
  ]

type load = { name : string; domains : int; percent : int }

let loads =
  (* The paper's is constant over the domains too. *)
  let over_domains (name, domains) =
    { name = "domains-" ^ name; domains; percent = 75 }
  and of_percent percent =
    { name = Printf.sprintf "load-%d" percent; domains = cores; percent }
  in
  List.map over_domains [ ("1", 1); ("cores", cores); ("2x-cores", 2 * cores) ]
  @ List.map of_percent [ 25; 50; 75; 100; 125 ]

let title machine ~what { domains; percent; _ } =
  let asked =
    match machine with
    | None -> "requests"
    | Some { n; cost_ms; capacity } ->
        Printf.sprintf
          "%.1f requests per second for /fib/%d (%.1f ms of a core)"
          (float percent /. 100. *. capacity)
          n cost_ms
  in
  Printf.sprintf "%s: %s, %d%% of what %d cores compute; on %d domain%s" what
    asked percent cores domains
    (if domains = 1 then "" else "s")

(* Of a sample; there are many. *)
let ms = { full = 3_000; quick = 400; least = 20 }

let comparison machine (prefix, what, figure, nth) load =
  let row impl =
    let { name; domains; percent } = load in
    row ~case:(prefix ^ name) ~impl ~host:"eio"
      (Load { figure; nth; name; ms; run = answers impl ~domains ~percent })
  in
  let rows = List.map row variants in
  {
    title = title machine ~what load;
    baseline = List.hd rows;
    others = List.tl rows;
  }

let figures =
  [
    ("throughput-", "requests answered", Figure.throughput, 0);
    ("p90-", "p90 of the time since a request was due", Figure.latency, 1);
  ]

let group_for machine =
  {
    name = "fib";
    doc = "the Fibonacci server of the paper, composed and not";
    comparisons =
      List.concat_map
        (fun figure -> List.map (comparison machine figure) loads)
        figures;
  }

let group = group_for None

let prepare effort =
  let machine = measure effort in
  tell machine;
  group_for (Some machine)
