(* The modules that each style has, with the same operations. *)
let modules =
  [
    "Promise";
    "Mvar";
    "Lazy";
    "Channel";
    "Stream";
    "Work_queue";
    "Mailbox";
    "Broadcast";
    "Watch";
    "Bvar";
    "Mutex";
    "Condition";
    "Semaphore";
    "Rwlock";
    "Barrier";
    "Latch";
    "Pool";
  ]

(* Other operations, for example [Event.timeout], can be performed by their event. A name
   without a module is not one that the program can write. *)
let in_style style = function
  | "Event.select" -> Some (style ^ ".select")
  | name -> (
      match String.split_on_char '.' name with
      | [] | [ _ ] -> None
      | of_module :: _
        when List.mem of_module modules
             && not (String.ends_with ~suffix:"_evt" name) ->
          Some (style ^ "." ^ name)
      | _ -> Some (style ^ ".sync with its event"))

let advice style =
  let use name =
    match in_style style name with
    | Some operation ->
        Printf.sprintf
          ". The operation that was refused last is %s. Use %s instead" name
          operation
    | None -> ""
  in
  Option.fold (Atomic.get Operation.refused) ~none:"" ~some:use
