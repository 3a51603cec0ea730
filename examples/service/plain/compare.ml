(* Runs the service with and without Concord in turns (A B B A and so on) under the same load,
   and prints a table for README.md. With [--debug], it compares the service with itself, with
   each word of [CONCORD_DEBUG], for the page on diagnosis. Each turn has a new process and a
   new database. *)

let folder = Filename.dirname Sys.executable_name

(* --- One of the two programs ----------------------------------------------------- *)

type child = {
  pid : int;
  port : int;
  file : string;  (** The database. *)
  errors : string;
  output : in_channel;
}

(* [debug] is the value of [CONCORD_DEBUG], or empty. *)
let environment debug =
  let is_other variable =
    not (String.starts_with ~prefix:"CONCORD_DEBUG=" variable)
  in
  let others = List.filter is_other (Array.to_list (Unix.environment ())) in
  Array.of_list
    (if debug = "" then others else ("CONCORD_DEBUG=" ^ debug) :: others)

type program = { name : string; fibers : int  (** Its worker fibers. *) }

let start ?(debug = "") { name; fibers } options =
  let file = Filename.temp_file "service" ".db" in
  let errors = file ^ ".errors" in
  let from_child, stdout = Unix.pipe ~cloexec:true () in
  let stderr = Unix.openfile errors [ O_WRONLY; O_CREAT; O_CLOEXEC ] 0o600 in
  let pid =
    Unix.create_process_env
      (Filename.concat folder name)
      (Array.of_list
         (name :: "--port=0"
         :: ("--database=sqlite3:" ^ file)
         :: "--workers=2"
         :: Printf.sprintf "--fibers=%d" fibers
         :: options))
      (environment debug) Unix.stdin stdout stderr
  in
  Unix.close stdout;
  Unix.close stderr;
  let output = Unix.in_channel_of_descr from_child in
  match In_channel.input_line output with
  | None -> failwith (name ^ " did not start")
  | Some line ->
      let port = Scanf.sscanf line "http://localhost:%d/" Fun.id in
      { pid; port; file; errors; output }

(* Returns the seconds from SIGTERM to the exit, and the lines on standard error. *)
let stop child =
  let before = Unix.gettimeofday () in
  Unix.kill child.pid Sys.sigterm;
  ignore (In_channel.input_all child.output : string);
  let status = snd (Unix.waitpid [] child.pid) in
  let seconds = Unix.gettimeofday () -. before in
  if status <> WEXITED 0 then failwith "the service did not exit with code 0";
  In_channel.close child.output;
  let lines = In_channel.with_open_bin child.errors In_channel.input_all in
  (seconds, List.filter (( <> ) "") (String.split_on_char '\n' lines))

let remove child =
  List.iter
    (fun file -> if Sys.file_exists file then Sys.remove file)
    [ child.file; child.errors; child.file ^ "-journal" ]

let stored child =
  let db = Sqlite3.db_open child.file in
  let ids = Hashtbl.create 1024 in
  let row cells _ =
    Option.iter (fun id -> Hashtbl.replace ids (int_of_string id) ()) cells.(0)
  in
  Sqlite3.Rc.check (Sqlite3.exec db ~cb:row "SELECT id FROM jobs");
  ignore (Sqlite3.db_close db : bool);
  ids

(* --- Clients ----------------------------------------------------------------------- *)

type client = { input : Eio.Buf_read.t; send : string -> unit }

let with_client env child f =
  Eio.Switch.run @@ fun sw ->
  let address = `Tcp (Eio.Net.Ipaddr.V4.loopback, child.port) in
  let socket = Eio.Net.connect ~sw env#net address in
  f
    {
      input = Eio.Buf_read.of_flow socket ~max_size:65_536;
      send = (fun text -> Eio.Flow.copy_string text socket);
    }

let request { input; send } meth path body =
  send
    (Printf.sprintf "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
       meth path (String.length body) body);
  let status = Scanf.sscanf (Eio.Buf_read.line input) "HTTP/1.1 %d" Fun.id in
  let rec headers length =
    match Eio.Buf_read.line input with
    | "" -> length
    | line -> (
        match String.split_on_char ':' (String.lowercase_ascii line) with
        | [ "content-length"; n ] -> headers (int_of_string (String.trim n))
        | _ -> headers length)
  in
  let body = Eio.Buf_read.take (headers 0) input in
  (status, String.trim body)

let post client n = request client "POST" "/jobs" (string_of_int n)

let poll client id =
  request client "GET" (Printf.sprintf "/jobs/%s?wait=30" id) ""

let now = Unix.gettimeofday

(* Returns the seconds that each job took, from before its POST to its answer. *)
let jobs ~until ~n client note =
  while now () < until do
    let before = now () in
    match post client n with
    | 202, id ->
        let status, _ = poll client id in
        if status = 200 then note (now () -. before)
    | _ -> Eio_unix.sleep 0.005
  done

let quantile q samples =
  let sorted = Array.of_list samples in
  Array.sort Float.compare sorted;
  let last = Array.length sorted - 1 in
  if last < 0 then nan else sorted.(int_of_float (q *. float last))

let repeated n f = List.init n (fun _ () -> f ())

(* --- The measurements --------------------------------------------------------------- *)

let with_child ?debug program options f =
  let child = start ?debug program options in
  Fun.protect ~finally:(fun () -> remove child) (fun () -> f child)

(* 16 clients send small jobs. Or 4 clients do, and one more sends long jobs, which occupy one
   of the two workers. *)
let load ~seconds ~long env program =
  with_child program [] @@ fun child ->
  let times = ref [] and until = now () +. seconds in
  let short () =
    with_client env child (fun client ->
        jobs ~until ~n:1_000 client (fun time -> times := time :: !times))
  and long_ones () =
    with_client env child (fun client -> jobs ~until ~n:1_000_000 client ignore)
  in
  Eio.Fiber.all
    (if long then long_ones :: repeated 4 short else repeated 16 short);
  ignore (stop child : float * string list);
  [
    float (List.length !times) /. seconds;
    1e3 *. quantile 0.5 !times;
    1e3 *. quantile 0.99 !times;
  ]

(* The processor time that the process has used, in seconds. *)
let processor_time child =
  let stat =
    In_channel.with_open_bin
      (Printf.sprintf "/proc/%d/stat" child.pid)
      In_channel.input_all
  in
  (* The name, in parentheses, may contain spaces. *)
  let after = String.rindex stat ')' + 2 in
  match
    String.split_on_char ' '
      (String.sub stat after (String.length stat - after))
  with
  | fields when List.length fields > 12 ->
      let field n = float_of_string (List.nth fields n) in
      (field 11 +. field 12) /. 100.
  | _ -> failwith "/proc/PID/stat has another form"

(* 16 clients send small jobs. *)
let debugged ~seconds env program debug =
  with_child ~debug program [] @@ fun child ->
  let n = ref 0 and until = now () +. seconds in
  let before = processor_time child in
  let client () =
    with_client env child (fun client ->
        jobs ~until ~n:1_000 client (fun _ -> incr n))
  in
  Eio.Fiber.all (repeated 16 client);
  let used = processor_time child -. before in
  ignore (stop child : float * string list);
  [ float !n /. seconds; 1e6 *. used /. float !n ]

(* SIGTERM comes while 16 clients have jobs of about 0.1 s. The grace period is shorter than
   the queue. *)
let sigterm env program =
  with_child program [ "--grace=0.2"; "--capacity=16" ] @@ fun child ->
  let accepted = ref [] in
  let client () =
    try
      with_client env child (fun client ->
          while true do
            match post client 500_000 with
            | 202, id ->
                accepted := int_of_string id :: !accepted;
                ignore (poll client id : int * string)
            | _ -> Eio_unix.sleep 0.005
          done)
    with End_of_file | Eio.Io _ -> ()
  in
  let ended = ref (nan, []) in
  let signal () =
    Eio_unix.sleep 0.5;
    ended := Eio_unix.run_in_systhread (fun () -> stop child)
  in
  Eio.Fiber.all (signal :: repeated 16 client);
  let rows = stored child in
  let missing = List.filter (fun id -> not (Hashtbl.mem rows id)) !accepted in
  let lost = List.length missing - List.length (snd !ended) in
  [ 1e3 *. fst !ended; float (Int.max 0 lost) ]

(* Another process locks the file for a second, while 8 clients post. *)
let locked env program =
  with_child program [ "--capacity=16" ] @@ fun child ->
  let accepted = ref [] and refused = ref 0 and slow = ref [] in
  let first = with_client env child (fun c -> snd (post c 10)) in
  with_client env child (fun c -> ignore (poll c first : int * string));
  let db = Sqlite3.db_open child.file in
  let rec lock () =
    match Sqlite3.exec db "BEGIN EXCLUSIVE" with
    | OK -> ()
    | _ ->
        Eio_unix.sleep 0.01;
        lock ()
  in
  lock ();
  let until = now () +. 1. in
  let client () =
    with_client env child (fun client ->
        while now () < until do
          let before = now () in
          (match post client 1_000 with
          | 202, id -> accepted := int_of_string id :: !accepted
          | _ -> incr refused);
          slow := (now () -. before) :: !slow;
          Eio_unix.sleep 0.01
        done)
  in
  Eio.Fiber.all (repeated 8 client);
  Sqlite3.Rc.check (Sqlite3.exec db "ROLLBACK");
  ignore (Sqlite3.db_close db : bool);
  ignore (stop child : float * string list);
  let rows = stored child in
  let missing = List.filter (fun id -> not (Hashtbl.mem rows id)) !accepted in
  [
    float (List.length !accepted);
    float !refused;
    1e3 *. quantile 0.99 !slow;
    float (List.length missing);
  ]

(* 50 clients wait for a job and hang up. Returns how many descriptors are still open 1 s
   later. *)
let hang_up env program =
  with_child program [] @@ fun child ->
  let descriptors () =
    Array.length (Sys.readdir (Printf.sprintf "/proc/%d/fd" child.pid))
  in
  let id = with_client env child (fun c -> snd (post c 10)) in
  with_client env child (fun c -> ignore (poll c id : int * string));
  let before = descriptors () in
  let id = with_client env child (fun c -> snd (post c 100_000_000)) in
  let leave () =
    with_client env child (fun client ->
        client.send
          (Printf.sprintf "GET /jobs/%s?wait=30 HTTP/1.1\r\nHost: x\r\n\r\n" id))
  in
  Eio.Fiber.all (repeated 50 leave);
  Eio_unix.sleep 0.5;
  let left = descriptors () - before in
  let start = now () in
  with_client env child (fun client ->
      ignore (request client "DELETE" ("/jobs/" ^ id) "" : int * string));
  let seconds = now () -. start in
  ignore (stop child : float * string list);
  [ float left; 1e3 *. seconds ]

(* Jobs are deleted while they run, one after the other. *)
let delete env program =
  with_child program [] @@ fun child ->
  let once client =
    let _, id = post client 100_000_000 in
    Eio_unix.sleep 0.05;
    let start = now () in
    ignore (request client "DELETE" ("/jobs/" ^ id) "" : int * string);
    now () -. start
  in
  let times =
    with_client env child (fun client -> List.init 9 (fun _ -> once client))
  in
  ignore (stop child : float * string list);
  [ 1e3 *. quantile 0.5 times; 1e3 *. quantile 1. times ]

(* --- The table ------------------------------------------------------------------------- *)

let print_rows names turns =
  List.iteri
    (fun i name ->
      let of_ side = List.map (fun turn -> List.nth (side turn) i) turns in
      let concord = of_ fst and plain = of_ snd in
      let ratios = List.map2 (fun a b -> b /. a) concord plain in
      let median = quantile 0.5 in
      let ratio =
        if median concord = 0. then "-"
        else
          Printf.sprintf "%.2f (%.2f - %.2f)" (median ratios)
            (quantile 0.25 ratios) (quantile 0.75 ratios)
      in
      Printf.printf "| %s | %.4g | %.4g | %s |\n%!" name (median concord)
        (median plain) ratio)
    names

let measure programs turns f names =
  let turn i =
    let order = if i mod 2 = 0 then programs else List.rev programs in
    match List.map f order with
    | [ a; b ] -> if i mod 2 = 0 then (a, b) else (b, a)
    | _ -> assert false (* two programs *)
  in
  print_rows names (List.init turns turn)

(* Each word is compared with no word, in turns next to each other. *)
let measure_debugged env program turns ~seconds words =
  print_endline
    "| [CONCORD_DEBUG] | jobs per second | in proportion | us of processor \
     time for a job | in proportion |\n\
     |---|---|---|---|---|";
  let row debug =
    let run debug = debugged ~seconds env program debug in
    let turn i =
      if i mod 2 = 0 then
        let without = run "" in
        (without, run debug)
      else
        let with_ = run debug in
        (run "", with_)
    in
    let turns = List.init turns turn in
    let column i =
      let of_ side = List.map (fun turn -> List.nth (side turn) i) turns in
      let ratios = List.map2 (fun a b -> b /. a) (of_ fst) (of_ snd) in
      Printf.sprintf "%.4g | %.2f (%.2f to %.2f)"
        (quantile 0.5 (of_ snd))
        (quantile 0.5 ratios) (quantile 0.25 ratios) (quantile 0.75 ratios)
    in
    Printf.printf "| %s | %s | %s |\n%!"
      (if debug = "" then "none" else debug)
      (column 0) (column 1)
  in
  List.iter row words

let words =
  [
    "";
    "sigusr2";
    "waits";
    "sigquit,slow=30";
    "stall=5";
    "metrics";
    "trace";
    "strict";
    "leaks";
  ]

open Cmdliner
open Cmdliner.Term.Syntax

let command =
  Cmd.v (Cmd.info "compare" ~doc:"compare the service with plain.exe")
  @@
  let+ turns = Arg.(value & opt int 15 & info [ "turns" ] ~doc:"How many.")
  and+ seconds =
    Arg.(
      value & opt float 1.
      & info [ "seconds" ] ~doc:"The duration of each load.")
  and+ concord =
    Arg.(
      value
      & opt string "../service.exe"
      & info [ "concord" ] ~doc:"Another program instead of the service.")
  and+ fibers =
    let doc = "The worker fibers of both. Each has two domains that compute." in
    Arg.(value & opt int 4 & info [ "fibers" ] ~doc)
  and+ plain_fibers =
    let doc = "The worker fibers of plain.exe, if it should have others." in
    Arg.(value & opt (some int) None & info [ "plain-fibers" ] ~doc)
  and+ loads_only =
    Arg.(value & flag & info [ "loads" ] ~doc:"Only the two loads.")
  and+ debug =
    let doc = "Compare the service with itself, with words of CONCORD_DEBUG." in
    Arg.(value & flag & info [ "debug" ] ~doc)
  and+ words =
    let doc = "With $(b,--debug), only these words. May be repeated." in
    Arg.(value & opt_all string words & info [ "words" ] ~doc ~docv:"WORDS")
  in
  let plain_fibers = Option.value plain_fibers ~default:fibers in
  let measure =
    measure
      [
        { name = concord; fibers };
        { name = "plain.exe"; fibers = plain_fibers };
      ]
  in
  Eio_main.run @@ fun env ->
  if debug then
    measure_debugged env { name = concord; fibers } turns ~seconds words
  else begin
    print_endline "| | Concord | plain | plain / Concord |\n|---|---|---|---|";
    measure turns
      (load ~seconds ~long:false env)
      [ "small jobs per second"; "p50, ms"; "p99, ms" ];
    measure turns
      (load ~seconds ~long:true env)
      [
        "small jobs per second beside long ones";
        "p50 beside them, ms";
        "p99 beside them, ms";
      ];
    if not loads_only then begin
      measure turns (sigterm env)
        [ "SIGTERM to exit, grace 200 ms, ms"; "accepted jobs lost by it" ];
      measure turns (locked env)
        [
          "locked for 1 s: accepted";
          "locked: refused";
          "locked: p99 of POST, ms";
          "locked: accepted jobs lost";
        ];
      measure turns (hang_up env)
        [
          "descriptors of 50 clients that hung up"; "DELETE of the job then, ms";
        ];
      measure turns (delete env)
        [ "DELETE of a running job, median of 9, ms"; "the slowest of 9, ms" ]
    end
  end

let () = exit (Cmd.eval command)
