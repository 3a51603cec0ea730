(* Starts the server as a process, reads its port, and stops it. *)

open Eio.Std

exception Failed of string

type t = { pid : int; address : Eio.Net.Sockaddr.stream }

let address t = t.address
let cpu_seconds t = Process_time.seconds t.pid
let fail fmt = Printf.ksprintf (fun text -> raise (Failed text)) fmt

let port_of_line line =
  match String.rindex_opt line ':' with
  | Some i ->
      int_of_string_opt (String.sub line (i + 1) (String.length line - i - 1))
  | None -> None

let status_text status = Format.asprintf "%a" Eio.Process.pp_status status

(* A server that takes too long counts as failed. *)
let within env what f =
  try Eio.Time.Timeout.(run_exn (seconds env#mono_clock 15.)) f
  with Eio.Time.Timeout -> fail "%s within 15 seconds" what

let with_server (env : Eio_unix.Stdenv.base) ~binary ~variant ~domains f =
  Switch.run @@ fun sw ->
  let output, child_output = Eio.Process.pipe ~sw env#process_mgr in
  let process =
    try
      Eio.Process.spawn ~sw env#process_mgr ~stdout:child_output
        ~executable:binary
        [
          "fib_server";
          "--variant=" ^ variant;
          "--port=0";
          "--domains=" ^ string_of_int domains;
        ]
    with Eio.Io _ as e ->
      fail "cannot run %s: %s" binary (Printexc.to_string e)
  in
  Eio.Flow.close child_output;
  let reader = Eio.Buf_read.of_flow output ~max_size:4096 in
  let line =
    within env ("the server " ^ variant ^ " did not start") @@ fun () ->
    try Eio.Buf_read.line reader
    with End_of_file ->
      fail "the server %s did not start: %s" variant
        (status_text (Eio.Process.await process))
  in
  let address =
    match port_of_line line with
    | Some port -> `Tcp (Eio.Net.Ipaddr.V4.loopback, port)
    | None -> fail "the server %s printed %S instead of its port" variant line
  in
  let result = f { pid = Eio.Process.pid process; address } in
  Eio.Process.signal process Sys.sigterm;
  match
    within env ("the server " ^ variant ^ " did not stop") @@ fun () ->
    Eio.Process.await process
  with
  | `Exited 0 -> result
  | status ->
      fail "the server %s failed at its end: %s" variant (status_text status)
