(* Finds the page of a request, and checks its method and its number. *)

type page = unit -> Message.answer

(* A client may send the whole URL, as it does to a proxy. *)
let path resource =
  let resource = List.hd (String.split_on_char '?' resource) in
  match String.split_on_char '/' resource with
  | "" :: path -> path
  | scheme :: "" :: _host :: path when String.lowercase_ascii scheme = "http:"
    ->
      path
  | _ -> []

let handle ~hint find (request : Http.Request.t) : Message.answer =
  let headers = [ ("Allow", "GET, HEAD") ] in
  match (request.meth, request.resource) with
  | `OPTIONS, "*" -> { status = `OK; headers; body = "" }
  | meth, resource -> (
      match (find (path resource), meth) with
      | Some page, (`GET | `HEAD) -> page ()
      | Some _, _ -> Message.answer `Method_not_allowed "use GET" ~headers
      | None, _ -> Message.answer `Not_found hint)

let with_n ~max_n text f () =
  match Decimal.int_or_max text with
  | Some n when n <= max_n -> f n
  | Some _ | None ->
      Message.answer `Bad_request
        (Printf.sprintf "N must be a whole number from 0 to %d" max_n)
