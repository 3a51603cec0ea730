open Process

let check_int = Alcotest.(check int)
let check_string = Alcotest.(check string)
let url t path = Printf.sprintf "http://127.0.0.1:%d%s" t.port path

let get ?(version = "1.1") ?(headers = "") path =
  Printf.sprintf "GET %s HTTP/%s\r\nHost: test\r\n%s\r\n" path version headers

let check_answer client ?(status = 200) ?keep_alive body =
  let answer = Raw.receive client in
  check_int body status answer.status;
  check_string "body" (body ^ "\n") answer.body;
  Option.iter
    (fun keep_alive ->
      check_string "connection"
        (if keep_alive then "keep-alive" else "close")
        (List.assoc "connection" answer.headers))
    keep_alive

let with_client t f =
  let client = Raw.connect t.port in
  f client;
  Raw.close client

let check_alive t =
  with_client t @@ fun client ->
  Raw.send client (get "/ping");
  check_answer client "pong"

let curl t options paths =
  let code, output =
    output_of "curl"
      (("-s" :: "--max-time" :: "20" :: options) @ List.map (url t) paths)
  in
  check_int "curl's exit code" 0 code;
  output

let expect = "Expect: 100-continue\r\nContent-Length: 3\r\n"
let has_wrk = Sys.command "command -v wrk >/dev/null" = 0

let ask_by_wrk t connections path =
  let code, output =
    output_of "wrk"
      [
        "-t1";
        Printf.sprintf "-c%d" connections;
        "-d1s";
        "--timeout";
        "20s";
        url t path;
      ]
  in
  check_int "wrk's exit code" 0 code;
  let lines = List.map String.trim (String.split_on_char '\n' output) in
  let starts prefix = List.exists (String.starts_with ~prefix) lines in
  Alcotest.(check bool) output false (starts "Non-2xx" || starts "Socket errors");
  List.find_map
    (fun line ->
      try Scanf.sscanf line "%d requests in" Option.some
      with Scanf.Scan_failure _ | Failure _ | End_of_file -> None)
    lines
  |> Option.get

let wrk t ?(connections = 32) path =
  if has_wrk then Some (ask_by_wrk t connections path)
  else begin
    print_endline "wrk is not installed: left out";
    None
  end
