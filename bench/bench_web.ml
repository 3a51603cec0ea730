(* Compares the web server of "Retrofitting Effect handlers onto OCaml" with others. Each
   server is a process with one domain (GOMAXPROCS=1), and answers with a greeting. *)

open Case

type server = {
  impl : string;
  host : string;
  command : connections:int -> string list;
}

let example on ~connections =
  [
    "../examples/web_server/web_server.exe";
    "--on=" ^ on;
    "--port=0";
    (* This also allows the connections of the previous sample, which may not have ended
       yet. *)
    "--max-connections=" ^ string_of_int (3 * connections);
  ]

let eio_web arguments ~connections:_ = "web/eio_web.exe" :: arguments
let lwt_web library ~connections:_ = [ "web/lwt_web.exe"; library ]
let go ~connections:_ = [ "go_rows"; "serve" ]

(* The example has time limits on both hosts. The others have none. *)
let servers =
  [
    { impl = "concord"; host = "aio"; command = example "aio" };
    { impl = "concord"; host = "eio"; command = example "eio" };
    { impl = "eio"; host = "http"; command = eio_web [] };
    { impl = "lwt"; host = "http"; command = lwt_web "http" };
    { impl = "lwt"; host = "cohttp"; command = lwt_web "cohttp" };
    { impl = "go"; host = "go"; command = go };
  ]

let eio_with_limits =
  { impl = "eio"; host = "limits"; command = eio_web [ "limits" ] }

let is_there server =
  match (server.impl, server.host) with
  | "go", _ -> Worker.is_there Go
  | _, "cohttp" -> Visible.cohttp
  | _ -> true

(* Whether this process, and the servers that it starts, may have so many descriptors. *)
let may_open n =
  let limit line =
    try Scanf.sscanf line "Max open files %d" Option.some
    with Scanf.Scan_failure _ | End_of_file | Failure _ -> None
  in
  match In_channel.with_open_bin "/proc/self/limits" In_channel.input_lines with
  | exception Sys_error _ -> false
  | lines -> List.exists (fun limit -> limit >= n) (List.filter_map limit lines)

let has_wrk =
  let path = Option.value (Sys.getenv_opt "PATH") ~default:"" in
  List.exists
    (fun folder -> Sys.file_exists (Filename.concat folder "wrk"))
    (String.split_on_char ':' path)

let path = "/hello"

(* --- The maximal throughput --- *)

let wrk ~connections ~port ~seconds =
  let command =
    Printf.sprintf "exec wrk -t 1 -c %d -d %d http://127.0.0.1:%d%s 2>&1"
      connections seconds port path
  in
  let input = Unix.open_process_in command in
  let lines = In_channel.input_lines input in
  if Unix.close_process_in input <> WEXITED 0 then
    failwith ("wrk failed: " ^ String.concat "\n" lines);
  lines

(* Requests that are refused at once would count as very fast, so any refused one is an error. *)
let throughput ~connections ~port ~seconds ~rate:_ =
  let lines =
    List.map String.trim
      (wrk ~connections ~port ~seconds:(int_of_float (Float.ceil seconds)))
  in
  let value prefix =
    List.find_map
      (fun line ->
        if String.starts_with ~prefix line then
          let length = String.length prefix in
          Some
            (String.trim (String.sub line length (String.length line - length)))
        else None)
      lines
  in
  Option.iter
    (fun count -> failwith ("wrk: answers other than 2xx or 3xx: " ^ count))
    (value "Non-2xx or 3xx responses:");
  match Option.bind (value "Requests/sec:") float_of_string_opt with
  | Some rate when rate > 0. -> [ rate ]
  | Some _ | None -> failwith "wrk: no request was answered"

(* --- A load at a constant rate --- *)

let percentiles =
  [ ("p50", 0.5); ("p90", 0.9); ("p99", 0.99); ("p99.9", 0.999) ]

let answered ~connections ~port ~seconds ~rate =
  Eio_main.run @@ fun env ->
  let connect ~sw =
    Http_load.Client.connect ~sw env#net
      (`Tcp (Eio.Net.Ipaddr.V4.loopback, port))
  in
  let results =
    Http_load.Load.run ~clock:env#mono_clock ~connect ~connections
      ~warm_up:(0.3 *. seconds) ~seconds
      [ { path; rate } ]
  in
  match results with
  | [ { failures = []; per_second; latency; _ } ] ->
      if per_second > 0. then
        Some
          (per_second
          :: List.map (fun (_, part) -> 1e3 *. latency part) percentiles)
      else None
  | { failures = failure :: _; _ } :: _ -> failwith failure
  | _ -> assert false (* one result for one stream *)

let longest_s = 10.

(* While the machine is busy with other programs, nothing may be answered in the short time of a
   smoke test. Then it is measured again for longer, because such a figure says nothing. *)
let rec answers ~connections ~port ~seconds ~rate =
  match answered ~connections ~port ~seconds ~rate with
  | Some figures -> figures
  | None when seconds < longest_s ->
      answers ~connections ~port ~seconds:(3. *. seconds) ~rate
  | None -> failwith (Printf.sprintf "no request was answered in %g s" seconds)

(* --- Rows --- *)

let ms = { full = 1_000; quick = 500; least = 100 }

(* Connections that have sent a request and stay open. Each is closed by a reset, because
   otherwise its port could not be used again for a minute. *)
let with_idle idle ~port f =
  let request = "GET " ^ path ^ " HTTP/1.1\r\nHost: localhost\r\n\r\n" in
  let buffer = Bytes.create 4096 in
  let rec connect n sockets =
    if n = 0 then sockets
    else
      let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
      Unix.setsockopt_optint socket SO_LINGER (Some 0);
      Unix.connect socket (ADDR_INET (Unix.inet_addr_loopback, port));
      ignore (Unix.write_substring socket request 0 (String.length request));
      ignore (Unix.read socket buffer 0 (Bytes.length buffer));
      connect (n - 1) (socket :: sockets)
  in
  let sockets = connect idle [] in
  Fun.protect f ~finally:(fun () -> List.iter Unix.close sockets)

(* One server serves all samples of its row. The first sample is slower, so if the figure
   matters, it is taken twice. *)
let served ~connections ~idle { impl; host; command } measure =
  let server = ref None in
  let start ~connections =
    let started =
      Web_server.start ~name:(impl ^ "@" ^ host) (command ~connections)
    in
    server := Some started;
    started
  in
  fun ~crowd ~seconds ~rate ->
    let connections = Int.min connections crowd in
    let idle = Int.min idle crowd in
    let measure server =
      let port = Web_server.port server in
      with_idle idle ~port (fun () -> measure ~connections ~port ~seconds ~rate)
    in
    match !server with
    | Some server -> measure server
    | None ->
        let server = start ~connections:(connections + idle) in
        if seconds > 1e-3 *. float ms.least then
          ignore (measure server : float list);
        measure server

let comparison ?(idle = 0) ~servers measure connections figure ~case ~load
    ~title ~nth ~rate =
  let row server =
    row ~case ~impl:server.impl ~host:server.host
      (Load
         {
           figure;
           nth;
           name = load;
           ms;
           rate = (fun () -> rate);
           run = served ~connections ~idle server measure;
         })
  in
  let rows = List.map row (List.filter is_there servers) in
  { title; baseline = List.hd rows; others = List.tl rows }

let most connections =
  let case = Printf.sprintf "throughput-%d" connections in
  comparison throughput connections Figure.throughput ~case ~load:case ~nth:0
    ~servers:(servers @ [ eio_with_limits ])
    ~rate:infinity
    ~title:
      (Printf.sprintf
         "requests answered to wrk, %d connections, servers of 1 domain"
         connections)

(* Only the servers that give each read and write a time limit. A server without limits keeps
   less for a connection that is idle. *)
let most_beside_idle idle =
  let case = Printf.sprintf "throughput-16-idle-%d" idle in
  let ours = List.filter (fun { impl; _ } -> impl = "concord") servers in
  comparison throughput 16 Figure.throughput ~idle ~case ~load:case ~nth:0
    ~servers:(ours @ [ eio_with_limits ])
    ~rate:infinity
    ~title:
      (Printf.sprintf
         "requests answered to wrk, 16 connections beside %d idle ones, \
          servers of 1 domain with time limits"
         idle)

(* From a small load to the largest that one core can generate. *)
let rates = [ 2_500; 5_000; 10_000; 20_000; 40_000 ]
let connections = 100

let over_the_load (name, what, figure, nth) rate =
  comparison answers connections figure ~nth ~rate:(float rate) ~servers
    ~case:(Printf.sprintf "%s-%d" name rate)
    ~load:(string_of_int rate)
    ~title:
      (Printf.sprintf
         "%s, %d connections, %d requests due per second, servers of 1 domain"
         what connections rate)

let curves =
  ("answered", "requests answered", Figure.throughput, 0)
  :: List.mapi
       (fun i (name, _) ->
         ( name,
           name ^ " of the time since a request was due",
           Figure.latency,
           i + 1 ))
       percentiles

let group =
  {
    name = "web";
    doc = "a web server on Concord_aio and on Eio against Eio's, Lwt's and Go's";
    comparisons =
      (if has_wrk then
         let idle = 4_500 in
         List.map most [ 16; 100; 256; 1000 ]
         @ if may_open (2 * idle) then [ most_beside_idle idle ] else []
       else [])
      @ List.concat_map
          (fun curve -> List.map (over_the_load curve) rates)
          curves;
  }
