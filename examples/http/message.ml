(* Requests are cut out of the stream here and parsed by [http]; what that
   parser lets pass but other programs read differently is refused. *)

module Parser = Http.Private.Parser
module Header = Http.Header

let max_head = 8 * 1024
let max_body = 64 * 1024

exception Refuse of Http.Status.t * string

let refuse status text = raise_notrace (Refuse (status, text))
let malformed what = refuse `Bad_request ("malformed " ^ what)

(* A line, without its end. A line feed alone ends a line for some programs and
   not for others, so it is refused with the other control characters. *)
let line input ~room ~overflow =
  let rec scan i =
    if i >= room then overflow ()
    else if i = Input.length input then (
      Input.more input;
      scan i)
    else
      let after_return = i > 0 && Input.get input (i - 1) = '\r' in
      match Input.get input i with
      | '\n' when after_return ->
          let text = Input.take input (i - 1) in
          Input.skip input 2;
          text
      | '\n' -> malformed "line end"
      | _ when after_return -> malformed "line end"
      | '\t' | '\r' -> scan (i + 1)
      | '\000' .. '\031' | '\127' -> malformed "request"
      | _ -> scan (i + 1)
  in
  scan 0

(* The lines up to the empty one. *)
let rec lines input ~room ~overflow =
  match line input ~room ~overflow with
  | "" -> []
  | text -> text :: lines input ~room:(room - String.length text - 2) ~overflow

(* Some clients send an empty line after the body of the previous request. *)
let read_head input =
  let overflow () =
    refuse `Request_header_fields_too_large
      (Printf.sprintf "the request line and headers exceed %d bytes" max_head)
  in
  match lines input ~room:max_head ~overflow with
  | [] -> lines input ~room:max_head ~overflow
  | head -> head

let parse_head head =
  let text = String.concat "\r\n" (head @ [ ""; "" ]) in
  let visible s = s <> "" && String.for_all (fun c -> c > ' ') s in
  match Parser.parse_request text with
  | Ok (request, length)
    when length = String.length text
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

let fixed_length text =
  match Number.of_digits text with
  | Some length when length <= max_body -> length
  | Some _ -> too_large ()
  | None -> malformed "Content-Length"

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

let skip_chunks input =
  let chunk_line () =
    line input ~room:max_head ~overflow:(fun () -> malformed "chunk")
  in
  let rec skip ~room =
    let head = chunk_line () in
    let size = chunk_size head in
    let room = room - String.length head - size in
    if room < 0 then too_large ();
    if size > 0 then (
      Input.skip input size;
      if chunk_line () <> "" then malformed "chunk";
      skip ~room)
  in
  skip ~room:max_body;
  let overflow () = malformed "trailers" in
  ignore (lines input ~room:max_head ~overflow : string list)

let skip_body input ~go_on (request : Http.Request.t) =
  let values name = Header.get_multi request.headers name in
  let version_1_1 = request.version = `HTTP_1_1 in
  (* HTTP/1.0 does not know this answer, and takes it for the last one. *)
  let invite () =
    if
      version_1_1
      && List.exists
           (fun v -> String.lowercase_ascii v = "100-continue")
           (values "expect")
    then go_on "HTTP/1.1 100 Continue\r\n\r\n"
  in
  match (values "transfer-encoding", values "content-length") with
  | [], [] -> ()
  | [], [ length ] ->
      let length = fixed_length length in
      invite ();
      Input.skip input length
  | [ coding ], [] when version_1_1 ->
      if String.lowercase_ascii coding <> "chunked" then
        refuse `Not_implemented "unknown transfer coding";
      invite ();
      skip_chunks input
  (* Two ways to tell where the body ends: whoever chooses the other one sees
     another request behind it. *)
  | _ -> malformed "request: its length is ambiguous"

type received = Request of Http.Request.t | Refused of Http.Status.t * string

let receive input ~go_on =
  match
    let request = parse_head (read_head input) in
    skip_body input ~go_on request;
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

let to_string ?(head_only = false) ~keep_alive { status; headers; body } =
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
  if head_only then head else head ^ body
