(* Loads several variants of the server, one after the other, and shows how fast each answered.

   ./dev demo [--quick] *)

open Http_load
open Fib_measure

exception Interrupted

type options = {
  binary : string;
  svg : string;
  variants : string list;
  domains : int;
  n : int option;
  rate : float option;
  ping_rate : float;
  seconds : float;
}

(* In seconds. Every /fib takes at least this long in one domain, so that it is visible in the
   timelines. *)
let enough = 0.15

(* The fraction of the machine's capacity that the /fib requests use. *)
let utilisation = 2. /. 3.
let warm_up = 0.5

(* In seconds. The capacity is measured at the start, to choose the rate. It is measured again
   before each variant, because the machine's speed may drift while all variants get the same
   rate. *)
let calibration = 1.

let capacity options (asked : Calibrate.t) =
  Calibrate.capacity ~n:asked.n ~domains:options.domains ~seconds:calibration

(* This is enough for the requests that pile up during several seconds, and few enough for the
   usual limit of open files. *)
let connections = 200

let measure_variant env options (asked : Calibrate.t) ~rate ~gap variant =
  Printf.eprintf "demo: %s...\n%!" variant;
  let capacity = capacity options asked in
  Server_process.with_server env ~binary:options.binary ~variant
    ~domains:options.domains
  @@ fun server ->
  let clock = env#mono_clock in
  let connect ~sw =
    Client.connect ~sw env#net (Server_process.address server)
  in
  let path = Printf.sprintf "/fib/%d" asked.n in
  let timeline = Timeline.capture ~clock ~connect ~title:variant ~path ~gap in
  let cpu_before = Server_process.cpu_seconds server in
  let start = Mtime_clock.counter () in
  let results =
    Load.run ~clock ~connect ~connections ~warm_up ~seconds:options.seconds
      [ { path; rate }; { path = "/ping"; rate = options.ping_rate } ]
  in
  let elapsed = Mtime.Span.to_float_ns (Mtime_clock.count start) *. 1e-9 in
  let cores =
    match (cpu_before, Server_process.cpu_seconds server) with
    | Some before, Some after -> Some ((after -. before) /. elapsed)
    | _ -> None
  in
  match results with
  | [ fib; ping ] ->
      ({ Report.variant; load = rate /. capacity; fib; ping; cores }, timeline)
  | _ -> assert false (* one result for each of two streams *)

let describe options (asked : Calibrate.t) ~capacity ~rate =
  Printf.printf
    "%d cores. One /fib/%d takes %.0f ms of one core. %d domains that do \
     nothing else\n\
     compute %.1f of them per second (median of repeated measurements). Every \
     variant gets\n\
     %.1f /fib/%d per second (%.0f%% of that), and %.0f /ping per second at \
     the same time,\n\
     for %g s, at a constant rate. A latency counts from the time at which the \
     request was\n\
     due. The column \"load\" is the rate in percent of the capacity, which is \
     measured again\n\
     before each variant.\n\n"
    (Domain.recommended_domain_count ())
    asked.n (asked.cost *. 1e3) options.domains capacity rate asked.n
    (100. *. rate /. capacity)
    options.ping_rate options.seconds

let compare_variants options =
  let asked = Calibrate.measure ?n:options.n ~enough () in
  let capacity = capacity options asked in
  let rate = Option.value options.rate ~default:(utilisation *. capacity) in
  describe options asked ~capacity ~rate;
  let gap = 1. /. capacity /. 4. in
  Out_channel.flush stdout;
  let interrupted =
    Concord.Signal.once [ Sys.sigint; Sys.sigterm; Sys.sighup ]
  in
  let rows, timelines =
    Eio_main.run @@ fun env ->
    Eio.Fiber.first
      (fun () ->
        List.split
          (List.map
             (measure_variant env options asked ~rate ~gap)
             options.variants))
      (fun () ->
        ignore (Concord.Promise.await interrupted : int);
        raise Interrupted)
  in
  Timeline_text.print timelines;
  (match Timeline_svg.write options.svg timelines with
  | () -> Printf.printf "%9s as a picture: %s\n\n" "" options.svg
  | exception Sys_error text -> Printf.printf "%9s no picture: %s\n\n" "" text);
  Report.print_table ~n:asked.n rows;
  Report.print_ratio rows;
  Report.print_json rows

let run options =
  let complain status text =
    Printf.eprintf "demo: %s\n%!" text;
    status
  in
  match
    if
      options.domains < 1
      || Float.min options.ping_rate options.seconds <= 0.
      || Option.value options.rate ~default:1. <= 0.
    then
      failwith "--domains, --rate, --ping-rate and --seconds must be positive";
    compare_variants options
  with
  | () -> 0
  | exception (Server_process.Failed text | Failure text) -> complain 1 text
  | exception (Eio.Io _ as e) -> complain 1 (Printexc.to_string e)
  | exception Interrupted -> complain 130 "interrupted"

(* --- The command line --- *)

open Cmdliner

let option name kind ~docv doc =
  Arg.(value & opt (some kind) None & info [ name ] ~docv ~doc)

(* The other variants differ from one of these only in a detail. *)
let usual =
  [ "blocking"; "composed"; "domain-manager"; "executor-pool"; "eio-promise" ]

let variants =
  let names = List.map fst Fib_service.Variants.all in
  let name = Arg.enum (List.map (fun name -> (name, name)) names) in
  Arg.(
    value
    & opt (list name) usual
    & info [ "variants" ] ~docv:"NAMES"
        ~doc:
          (Printf.sprintf
             "The variants to load: any of %s, separated by commas."
             (doc_alts ~quoted:true names)))

let options quick binary svg variants domains n rate ping_rate seconds =
  let either given default = Option.value given ~default in
  {
    binary =
      either binary
        (Filename.concat
           (Filename.dirname (Filename.dirname Sys.executable_name))
           "fib_server.exe");
    svg =
      either svg
        (Filename.concat (Filename.get_temp_dir_name ()) "fib_server.svg");
    variants;
    domains = either domains (Domain.recommended_domain_count ());
    n;
    rate;
    ping_rate = either ping_rate 200.;
    seconds = either seconds (if quick then 5. else 20.);
  }

let term =
  Term.(
    const run
    $ (const options
      $ Arg.(
          value & flag
          & info [ "quick" ] ~doc:"Measure for 5 seconds each instead of 20.")
      $ option "server" Arg.string ~docv:"FILE" "The server's executable."
      $ option "svg" Arg.string ~docv:"FILE"
          "The file for the picture of the timelines. By default it is \
           fib_server.svg in the temporary folder."
      $ variants
      $ option "domains" Arg.int ~docv:"N"
          "The number of domains that compute. By default it is the number of \
           cores."
      $ option "fib" Arg.int ~docv:"N"
          "The Fibonacci number that clients ask for. By default it is the \
           first one that takes a core 150 ms."
      $ option "rate" Arg.float ~docv:"R"
          "The number of /fib requests per second. By default it is two thirds \
           of what the machine can compute."
      $ option "ping-rate" Arg.float ~docv:"R"
          "The number of /ping requests per second."
      $ option "seconds" Arg.float ~docv:"S" "How long to load each variant."))

let () =
  exit
    (Cmd.eval'
       (Cmd.v
          (Cmd.info "demo"
             ~doc:"compare variants of an HTTP server under the same load")
          term))
