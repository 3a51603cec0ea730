(* The two pages, and the ways to miss them. *)

let timing = "X-Handled"

let parse_n ~max_n text =
  let is_number =
    text <> "" && String.for_all (fun c -> c >= '0' && c <= '9') text
  in
  match int_of_string_opt ("0u" ^ text) with
  | Some n when is_number && n >= 0 && n <= max_n -> Ok n
  | Some _ | None ->
      Error (Printf.sprintf "N must be a whole number from 0 to %d" max_n)

let path resource =
  match String.index_opt resource '?' with
  | Some i -> String.sub resource 0 i
  | None -> resource

let page ~max_n ~fib = function
  | [ ""; "ping" ] -> Some (fun () -> Http_io.answer `OK "pong")
  | [ ""; "fib"; n ] ->
      Some
        (fun () ->
          match parse_n ~max_n n with
          | Ok n -> Http_io.answer `OK (string_of_int (fib n))
          | Error text -> Http_io.answer `Bad_request text)
  | _ -> None

let handle ~max_n ~fib (request : Http.Request.t) =
  let start = Mtime_clock.now_ns () in
  let answer =
    match
      ( request.meth,
        page ~max_n ~fib (String.split_on_char '/' (path request.resource)) )
    with
    | (`GET | `HEAD), Some page -> page ()
    | _, Some _ ->
        Http_io.answer `Method_not_allowed "use GET"
          ~headers:[ ("Allow", "GET, HEAD") ]
    | _, None -> Http_io.answer `Not_found "try /fib/30 or /ping"
  in
  let handled = Printf.sprintf "%Lu %Lu" start (Mtime_clock.now_ns ()) in
  { answer with headers = (timing, handled) :: answer.headers }
