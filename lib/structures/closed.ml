exception Closed

let outcome = Error Closed

let () =
  Printexc.register_printer (function
    | Closed -> Some "Concord.Closed"
    | _ -> None)
