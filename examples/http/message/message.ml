(* Splits the input into requests, which the library [http] parses. It refuses anything that
   this parser accepts but other programs read differently, because such requests can be used
   for attacks. *)

module Parser = Http.Private.Parser
module Header = Http.Header

let max_head = 8 * 1024
let max_body = 64 * 1024

exception Refuse of Http.Status.t * string

let refuse status text = raise_notrace (Refuse (status, text))
let malformed what = refuse `Bad_request ("malformed " ^ what)

(* Returns the next line, without its end. Some programs take a lone line feed for the end of a
   line, and others don't. So it is refused, like the other control characters. *)
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

(* Returns the lines before the next empty one. *)
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

let is_token s =
  let is_token_char = function
    | 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' -> true
    | c -> String.contains "!#$%&'*+-.^_`|~" c
  in
  s <> "" && String.for_all is_token_char s

(* Accepts a name or an address, which may be empty, and optionally a port. The brackets
   separate the colons of an IPv6 address from the colon of the port. *)
let is_host s =
  let is_name_char = function
    | 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' -> true
    | c -> String.contains "-._~%!$&'()*+,;=" c
  in
  let is_address_char c = c = ':' || is_name_char c in
  let is_port s =
    s = "" || s = ":"
    || s.[0] = ':'
       && Option.is_some (Decimal.int_or_max String.(sub s 1 (length s - 1)))
  in
  let split_at i = String.(sub s 0 i, sub s i (length s - i)) in
  if String.starts_with ~prefix:"[" s then
    match String.index_opt s ']' with
    | None -> false
    | Some close ->
        let address, port = split_at (close + 1) in
        let address = String.sub address 1 (close - 1) in
        address <> "" && String.for_all is_address_char address && is_port port
  else
    let colon =
      Option.value (String.index_opt s ':') ~default:(String.length s)
    in
    let name, port = split_at colon in
    String.for_all is_name_char name && is_port port

let check_host (request : Http.Request.t) =
  match (Header.get_multi request.headers "host", request.version) with
  | [ host ], _ -> if not (is_host host) then malformed "Host"
  | [], `HTTP_1_0 -> ()
  | _ -> malformed "request: it must have one Host header"

let parse_head head =
  let text = String.concat "\r\n" (head @ [ ""; "" ]) in
  let visible s = s <> "" && String.for_all (fun c -> c > ' ') s in
  match Parser.parse_request text with
  | Ok (request, length)
    when length = String.length text
         && is_token (Http.Method.to_string request.meth)
         && visible request.resource ->
      check_host request;
      request
  | Ok _ | Error _ | (exception Invalid_argument _) -> malformed "request"

(* Returns the elements of a header whose value is a list, in lower case. *)
let elements (request : Http.Request.t) name =
  Header.get_multi request.headers name
  |> List.concat_map (String.split_on_char ',')
  |> List.filter_map (fun element ->
      match String.trim element with
      | "" -> None
      | element -> Some (String.lowercase_ascii element))

(* --- Bodies --- *)

let too_large () =
  refuse `Request_entity_too_large
    (Printf.sprintf "the body exceeds %d bytes" max_body)

let fixed_length text =
  match Decimal.int_or_max text with
  | Some length when length <= max_body -> length
  | Some _ -> too_large ()
  | None -> malformed "Content-Length"

(* A size, and perhaps extensions behind a semicolon, which mean nothing here. *)
let chunk_size line =
  let digits = List.hd (String.split_on_char ';' line) in
  let is_digit = function
    | '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> true
    | _ -> false
  in
  if digits = "" || not (String.for_all is_digit digits) then malformed "chunk";
  (* So many digits always fit. *)
  if String.length digits > 15 then malformed "chunk";
  let size = Int64.of_string ("0x" ^ digits) in
  if size > Int64.of_int max_body then too_large () else Int64.to_int size

let read_chunks input =
  let body = Buffer.create 256 in
  let chunk_line () =
    line input ~room:max_head ~overflow:(fun () -> malformed "chunk")
  in
  let rec read ~room =
    let head = chunk_line () in
    let size = chunk_size head in
    let room = room - String.length head - size in
    if room < 0 then too_large ();
    if size > 0 then (
      Buffer.add_string body (Input.read input size);
      if chunk_line () <> "" then malformed "chunk";
      read ~room)
  in
  read ~room:max_body;
  let overflow () = malformed "trailers" in
  let is_field text =
    match String.index_opt text ':' with
    | Some colon -> is_token (String.sub text 0 colon)
    | None -> false
  in
  if not (List.for_all is_field (lines input ~room:max_head ~overflow)) then
    malformed "trailers";
  Buffer.contents body

let read_body input ~go_on (request : Http.Request.t) =
  let values name = Header.get_multi request.headers name in
  let version_1_1 = request.version = `HTTP_1_1 in
  let expected = elements request "expect" in
  if List.exists (fun e -> e <> "100-continue") expected then
    refuse `Expectation_failed "unknown expectation";
  (* An HTTP/1.0 client doesn't know 100 Continue, and would take it for the final answer. *)
  let invite () =
    if version_1_1 && expected <> [] then go_on "HTTP/1.1 100 Continue\r\n\r\n"
  in
  match (values "transfer-encoding", values "content-length") with
  | [], [] -> ""
  | [], [ length ] ->
      let length = fixed_length length in
      invite ();
      Input.read input length
  | [ coding ], [] when version_1_1 ->
      if String.lowercase_ascii coding <> "chunked" then
        refuse `Not_implemented "unknown transfer coding";
      invite ();
      read_chunks input
  (* With both headers, the end of the body is ambiguous. A proxy that chooses the other header
     would see a different next request. *)
  | _ -> malformed "request: its length is ambiguous"

type received =
  | Request of Http.Request.t * string
  | Refused of Http.Status.t * string

let receive input ~go_on =
  match
    let request = parse_head (read_head input) in
    (request, read_body input ~go_on request)
  with
  | request, body -> Request (request, body)
  | exception Refuse (status, text) -> Refused (status, text)

let keeps_alive (request : Http.Request.t) =
  let options = elements request "connection" in
  match request.version with
  | `HTTP_1_1 -> not (List.mem "close" options)
  | `HTTP_1_0 | `Other _ ->
      List.mem "keep-alive" options && not (List.mem "close" options)

(* --- Answers --- *)

type body =
  | Text of string
  | Html of string
  | Typed of { content_type : string; text : string }
  | Events of ((string -> unit) -> unit)

type answer = {
  status : Http.Status.t;
  headers : (string * string) list;
  body : body;
}

let answer ?(headers = []) status text =
  { status; headers; body = Text (text ^ "\n") }

let is_chunked (request : Http.Request.t) = request.version = `HTTP_1_1

let to_string ?(head_only = false) ?(chunked = true) ~keep_alive
    { status; headers; body } =
  let of_length text =
    [ ("Content-Length", string_of_int (String.length text)) ]
  in
  let content_type, framing, whole =
    match body with
    | Text text -> ("text/plain", of_length text, text)
    | Html text -> ("text/html", of_length text, text)
    | Typed { content_type; text } -> (content_type, of_length text, text)
    | Events _ ->
        ( "text/event-stream",
          (if chunked then [ ("Transfer-Encoding", "chunked") ] else []),
          "" )
  in
  let response =
    Http.Response.make ~status
      ~headers:
        (Header.of_list
           ((("Content-Type", content_type) :: framing)
           @ ("Connection", if keep_alive then "keep-alive" else "close")
             :: headers))
      ()
  in
  let head =
    Printf.sprintf "%s %s\r\n%s"
      (Http.Version.to_string response.version)
      (Http.Status.to_string response.status)
      (Header.to_string response.headers)
  in
  if head_only then head else head ^ whole

let chunk text = Printf.sprintf "%x\r\n%s\r\n" (String.length text) text
let last_chunk = chunk ""
