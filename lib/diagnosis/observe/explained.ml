(* These are the names that programs can write. *)
let closed_of_kind = function
  | ("channel" | "stream" | "mailbox" | "broadcast" | "watch" | "pool") as kind
    ->
      Some (Printf.sprintf "Concord.%s.Closed" (String.capitalize_ascii kind))
  | "work queue" -> Some "Concord.Work_queue.Closed"
  | _ -> None

let nameless (_ : string) = None
let text s (_ : exn) = s

let missed = function
  | Errors.Lagged n -> Printf.sprintf "Concord.Broadcast.Lagged(%d)" n
  | e -> Printexc.exn_slot_name e

let never_resumed =
  text
    "Concord.Tools.Suspend.Never_resumed: nothing can resume this task any \
     longer"

let () =
  List.iter
    (fun (e, of_kind, otherwise) -> Labels.explain e ~of_kind ?otherwise)
    [
      ( Errors.Closed,
        closed_of_kind,
        Some
          (text
             "Concord.Stream.Closed, which is also the Closed of Work_queue, \
              Channel, Mailbox, Broadcast, Watch and Pool") );
      (Errors.Lagged 0, nameless, Some missed);
      ( Errors.Already_filled,
        nameless,
        Some (text "Concord.Promise.Already_filled") );
      ( Errors.Being_forced,
        nameless,
        Some
          (text
             "Concord.Lazy.Being_forced: Stdlib's lazy value is already being \
              forced by code that doesn't use Concord.Lazy.of_stdlib. Force it \
              by of_stdlib everywhere") );
      (Stdlib.Lazy.Undefined, nameless, None);
      (Leaks.Never_resumed, nameless, Some never_resumed);
    ]
