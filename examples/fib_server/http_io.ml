(* Requests are cut out of the stream here and parsed by [http]; what that
   parser lets pass but other programs read differently is refused. *)

module Buf_read = Eio.Buf_read
module Parser = Http.Private.Parser
module Header = Http.Header

let max_head = 8 * 1024
let max_body = 64 * 1024

exception Refuse of Http.Status.t * string

let refuse status text = raise_notrace (Refuse (status, text))
let malformed what = refuse `Bad_request ("malformed " ^ what)

(* The length of the head that [data] begins with, blank line included. A line
   feed alone ends a line for some programs and not for others, so it is
   refused with the other control characters. *)
let head_length data =
  let rec scan i ~line_start =
    if i = Cstruct.length data then None
    else
      let after_return = i > 0 && Cstruct.get_char data (i - 1) = '\r' in
      match Cstruct.get_char data i with
      | '\n' when not after_return -> malformed "line end"
      | '\n' when i = line_start + 1 -> Some (i + 1)
      | '\n' -> scan (i + 1) ~line_start:(i + 1)
      | _ when after_return -> malformed "line end"
      | '\t' | '\r' -> scan (i + 1) ~line_start
      | '\000' .. '\031' | '\127' -> malformed "request"
      | _ -> scan (i + 1) ~line_start
  in
  scan 0 ~line_start:0

let rec read_head reader =
  let data = Buf_read.peek reader in
  let available = Cstruct.length data in
  match head_length (Cstruct.sub data 0 (min available max_head)) with
  | Some length -> Buf_read.take length reader
  | None when available >= max_head ->
      refuse `Request_header_fields_too_large
        (Printf.sprintf "the request line and headers exceed %d bytes" max_head)
  | None ->
      Buf_read.ensure reader (available + 1);
      read_head reader

(* Some clients send an empty line after the body of the previous request. *)
let skip_empty_line reader =
  if Buf_read.peek_char reader = Some '\r' then (
    Buf_read.ensure reader 2;
    if Cstruct.to_string (Buf_read.peek reader) ~len:2 = "\r\n" then
      Buf_read.consume reader 2)

let parse_head head =
  let visible s = s <> "" && String.for_all (fun c -> c > ' ') s in
  match Parser.parse_request head with
  | Ok (request, length)
    when length = String.length head
         && visible (Http.Method.to_string request.meth)
         && visible request.resource ->
      if
        request.version = `HTTP_1_1
        && List.compare_length_with (Header.get_multi request.headers "host") 1
           <> 0
      then malformed "request: it must have one Host header";
      request
  | Ok _ | Error _ | (exception Invalid_argument _) -> malformed "request"

(* --- Bodies --- *)

let too_large () =
  refuse `Request_entity_too_large
    (Printf.sprintf "the body exceeds %d bytes" max_body)

let skip_fixed reader length =
  let is_digit c = c >= '0' && c <= '9' in
  if length = "" || not (String.for_all is_digit length) then
    malformed "Content-Length";
  match int_of_string_opt ("0u" ^ length) with
  | Some length when length >= 0 && length <= max_body ->
      Buf_read.skip length reader
  | Some _ | None -> too_large ()

let chunk_line reader =
  try Buf_read.line reader
  with Buf_read.Buffer_limit_exceeded -> malformed "chunk"

let chunk_size line =
  let starts_with_digit =
    match if line = "" then ' ' else line.[0] with
    | '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> true
    | _ -> false
  in
  match Parser.parse_chunk_length (line ^ "\r\n") with
  | Ok (size, _) when starts_with_digit ->
      if size < 0L || size > Int64.of_int max_body then too_large ()
      else Int64.to_int size
  | Ok _ | Error _ | (exception Invalid_argument _) -> malformed "chunk"

let skip_chunks reader =
  let rec skip_trailers ~room =
    match chunk_line reader with
    | "" -> ()
    | line when String.length line < room ->
        skip_trailers ~room:(room - String.length line)
    | _ -> malformed "trailers"
  in
  let rec skip ~room =
    match chunk_size (chunk_line reader) with
    | 0 -> skip_trailers ~room:max_head
    | size when size > room -> too_large ()
    | size ->
        Buf_read.skip size reader;
        if chunk_line reader <> "" then malformed "chunk";
        skip ~room:(room - size)
  in
  skip ~room:max_body

let skip_body reader sink (request : Http.Request.t) =
  let values name = Header.get_multi request.headers name in
  let invite () =
    if
      List.exists
        (fun v -> String.lowercase_ascii v = "100-continue")
        (values "expect")
    then Eio.Flow.copy_string "HTTP/1.1 100 Continue\r\n\r\n" sink
  in
  match (values "transfer-encoding", values "content-length") with
  | [], [] -> ()
  | [], [ length ] ->
      invite ();
      skip_fixed reader length
  | [ coding ], [] when request.version = `HTTP_1_1 ->
      if String.lowercase_ascii coding <> "chunked" then
        refuse `Not_implemented "unknown transfer coding";
      invite ();
      skip_chunks reader
  (* Two ways to tell where the body ends: whoever chooses the other one sees
     another request behind it. *)
  | _ -> malformed "request: its length is ambiguous"

type received = Request of Http.Request.t | Refused of Http.Status.t * string

let receive reader sink =
  match
    skip_empty_line reader;
    let request = parse_head (read_head reader) in
    skip_body reader sink request;
    request
  with
  | request -> Request request
  | exception Refuse (status, text) -> Refused (status, text)

let keeps_alive (request : Http.Request.t) =
  let options =
    Header.get_multi request.headers "connection"
    |> List.concat_map (String.split_on_char ',')
    |> List.map (fun option -> String.(lowercase_ascii (trim option)))
  in
  match request.version with
  | `HTTP_1_1 -> not (List.mem "close" options)
  | `HTTP_1_0 | `Other _ ->
      List.mem "keep-alive" options && not (List.mem "close" options)

(* --- Answers --- *)

type answer = {
  status : Http.Status.t;
  headers : (string * string) list;
  body : string;
}

let answer ?(headers = []) status text = { status; headers; body = text ^ "\n" }

let send sink ?(head_only = false) ~keep_alive { status; headers; body } =
  let response =
    Http.Response.make ~status
      ~headers:
        (Header.of_list
           (("Content-Type", "text/plain")
           :: ("Content-Length", string_of_int (String.length body))
           :: ("Connection", if keep_alive then "keep-alive" else "close")
           :: headers))
      ()
  in
  let head =
    Printf.sprintf "%s %s\r\n%s"
      (Http.Version.to_string response.version)
      (Http.Status.to_string response.status)
      (Header.to_string response.headers)
  in
  (* In one piece, so that it usually is one packet. *)
  Eio.Flow.copy_string (if head_only then head else head ^ body) sink
