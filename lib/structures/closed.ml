exception Closed

let outcome = Error Closed

(* Programs can write these names. *)
let of_kind = function
  | ("channel" | "stream" | "mailbox" | "broadcast") as kind ->
      Some (Printf.sprintf "Concord.%s.Closed" (String.capitalize_ascii kind))
  | _ -> None

let () =
  Labels.tell Closed ~of_kind
    ~otherwise:
      "Concord.Stream.Closed, which is that of Channel, Mailbox and Broadcast \
       too"

let by structure = Labels.raises Closed structure
