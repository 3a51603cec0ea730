(* Figures 8 and 9 of "Effectively Composing Concurrency Libraries". Requests for a Fibonacci
   number are due at a constant rate, even if earlier requests have not been answered, and the
   server works on all of them at once. As many small requests are due beside them, because the
   paper is about a server that computes and still answers these. (The server of the paper's own
   benchmark serves one request at a time.) Each sample has a new server, because an overloaded server has work
   left. Starting the server, the load, and stopping it have time limits. Their sum is less
   than a worker's limit, so no server is left behind. *)

open Case
open Fib_measure

(* --- The load --- *)

let cores = Domain.recommended_domain_count ()

(* In seconds. A request is short, so that a short sample has many requests, but long in
   comparison with waking a process. *)
let enough = 0.02

(* All rows ask for the same number. It is passed in this variable, because each row is
   measured in a process of its own. *)
let variable = "CONCORD_BENCH_FIB"

(* In seconds, for each turn. It is long enough for ten measurements or more, whose median is
   right within some percent. It is a small part of the turn. *)
let calibration = 0.3

type asked = { n : int option; rate : float option }

type machine = {
  cost : Calibrate.t;
  capacity : unit -> float;
  constant : float option;
}

let measure (effort : Effort.t) { n; rate = constant } =
  if effort.sample_ms = None then
    {
      cost = { n = Option.value n ~default:20; cost = 3e-5 };
      capacity = (fun () -> 4_000.);
      constant;
    }
  else
    let cost = Calibrate.measure ?n ~enough () in
    let capacity () =
      Calibrate.capacity ~n:cost.n ~domains:cores ~seconds:calibration
    in
    { cost; capacity; constant }

(* --- One sample --- *)

let binary =
  Filename.concat
    (Filename.dirname Sys.executable_name)
    "../examples/fib_server/fib_server.exe"

(* Enough for the requests that pile up. *)
let connections = 200

(* A percentile is computed from at least this number of latencies. *)
let fewest = 10.

(* It computes nothing. A server that blocks its domain while it computes answers it late. *)
let small = "/ping"

(* The number of requests is whole. If it is small, a fraction of a request would make some
   percent. *)
let answers variant ~domains ~crowd ~seconds ~rate =
  let path = "/fib/" ^ Unix.getenv variable in
  let time_of requests = Float.round requests /. rate in
  let seconds = time_of (Float.max fewest (rate *. seconds)) in
  let results =
    Eio_main.run @@ fun env ->
    Server_process.with_server env ~binary ~variant ~domains @@ fun server ->
    let connect ~sw =
      Http_load.Client.connect ~sw env#net (Server_process.address server)
    in
    Http_load.Load.run ~clock:env#mono_clock ~connect
      ~connections:(Int.min crowd connections)
      ~warm_up:(time_of (0.2 *. rate *. seconds))
      ~seconds
      [ { path; rate }; { path = small; rate } ]
  in
  match results with
  | [ large; beside ] -> (
      match large.failures @ beside.failures with
      | [] ->
          [
            large.per_second;
            1e3 *. large.latency 0.9;
            1e3 *. beside.latency 0.9;
          ]
      | failure :: _ -> failwith failure)
  | _ -> assert false (* one result for one stream *)

(* --- Rows --- *)

(* The other variants are compared with the first one. *)
let variants =
  [
    "composed";
    "unsplit";
    "long-lived";
    "blocking";
    "domain-manager";
    "executor-pool";
    "eio-promise";
    "as-printed";
    "mvar";
  ]

type load = { name : string; domains : int; percent : int; is_constant : bool }

(* Two loads may be the same. Then the load is measured once. *)
let measured_as machine { domains; percent; is_constant; _ } =
  match machine with
  | Some { constant = Some rate; _ } when is_constant ->
      Printf.sprintf "%g on %d" rate domains
  | _ -> Printf.sprintf "%d %% on %d" percent domains

(* On two cores this goes up to twice as many domains, because the curve would be too short
   otherwise. A smoke run has the same numbers on all machines. *)
let few = [ 1; 2; 4 ]

let domains =
  if cores <= 2 then few
  else
    List.filter (fun n -> n < cores) [ 1; 2; 4; 8; 16; 32; 64; 128 ] @ [ cores ]

let loads domains =
  (* The paper's load over the domains is constant too. *)
  let over_domains domains =
    let name = Printf.sprintf "domains-%d" domains in
    { name; domains; percent = 75; is_constant = true }
  and of_percent percent =
    let name = Printf.sprintf "load-%d" percent in
    { name; domains = cores; percent; is_constant = false }
  in
  List.map over_domains domains @ List.map of_percent [ 25; 50; 75; 100; 125 ]

let title machine ~what { domains; percent; is_constant; _ } =
  let asked, due =
    match machine with
    | Some { cost = { n; cost }; constant; _ } ->
        ( Printf.sprintf "requests for /fib/%d (%.1f ms of a core)" n
            (1e3 *. cost),
          if is_constant then constant else None )
    | None -> ("requests", None)
  in
  let due =
    match due with
    | Some rate -> Printf.sprintf "%g per second" rate
    | None ->
        Printf.sprintf "%d%% of what %d cores compute at the time" percent cores
  in
  Printf.sprintf "%s: %s, %s; on %d domain%s%s" what asked due domains
    (if domains = 1 then "" else "s")
    (if domains > cores then ", more domains than cores" else "")

(* The length of a sample, which is short because there are many samples. *)
let ms = { full = 1_500; quick = 250; least = 20 }

let comparison machine (prefix, what, figure, nth) load =
  let { name = of_load; domains; percent; is_constant } = load in
  let rate () =
    match machine with
    | None -> invalid_arg "a load that was not prepared"
    | Some { constant = Some rate; _ } when is_constant -> rate
    | Some { capacity; _ } -> float percent /. 100. *. capacity ()
  in
  let row impl =
    let run = answers impl ~domains and name = measured_as machine load in
    row ~case:(prefix ^ of_load) ~impl ~host:"eio"
      (Load { figure; nth; name; ms; rate; run })
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
    ( "small-p90-",
      "p90 of the time since a small request was due, beside the others",
      Figure.latency,
      2 );
  ]

let group_for machine domains =
  {
    name = "fib";
    doc = "the Fibonacci server of the paper, composed and not";
    comparisons =
      List.concat_map
        (fun figure -> List.map (comparison machine figure) (loads domains))
        figures;
  }

(* The measuring processes find their rows here. *)
let group = group_for None (List.sort_uniq Int.compare (few @ domains))

let prepare (effort : Effort.t) asked =
  let machine = measure effort asked in
  Unix.putenv variable (string_of_int machine.cost.n);
  group_for (Some machine) (if effort.level = Least then few else domains)
