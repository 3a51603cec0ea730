(* The results of operations as text. *)

let unit () = "()"
let int = string_of_int
let bool = string_of_bool
let closed f = try f () with Stream.Closed -> "raises Closed"
let event show event = Some (Event.wrap event show)

let closing_event show event =
  let show = function
    | Ok v -> show v
    | Error Stream.Closed -> "raises Closed"
    | Error e -> raise e
  in
  Some (Event.wrap (Event.to_result event) show)

let tried show result = Some (Option.map show result)
let tried_bool took = Some (if took then Some "()" else None)

let tried_closing f =
  Some (try f () with Stream.Closed -> Some "raises Closed")
