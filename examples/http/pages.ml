(* Finds the page of a request, and checks its method and its number. *)

open Http_message

type page = unit -> Message.answer

let handle ~hint find (request : Http.Request.t) _body : Message.answer =
  let headers = [ ("Allow", "GET, HEAD") ] in
  match (request.meth, request.resource) with
  | `OPTIONS, "*" -> { status = `OK; headers; body = Text "" }
  | meth, resource -> (
      match (find (Target.path resource), meth) with
      | Some page, (`GET | `HEAD) -> page ()
      | Some _, _ -> Message.answer `Method_not_allowed "use GET" ~headers
      | None, _ -> Message.answer `Not_found hint)

let with_n ~max_n text f () =
  match Decimal.int_or_max text with
  | Some n when n <= max_n -> f n
  | Some _ | None ->
      Message.answer `Bad_request
        (Printf.sprintf "N must be a whole number from 0 to %d" max_n)
