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

(* --- The outermost call ---------------------------------------------------------- *)

type frame = { name : string; at : string }

let starts name prefixes =
  List.exists (fun prefix -> String.starts_with ~prefix name) prefixes

let is_ours { name; _ } = starts name [ "Concord__"; "Concord_"; "Concord." ]
let is_of_stdlib { name; _ } = starts name [ "Stdlib."; "Stdlib__" ]

(* The loop of a library of promises, which has called the program. *)
let is_of_loop { name; _ } = starts name [ "Lwt"; "Async" ]

let frames stack =
  let frame slot =
    match Printexc.Slot.(name slot, location slot) with
    | Some name, Some { filename; line_number; _ } ->
        Some { name; at = Printf.sprintf "%s:%d" filename line_number }
    | _ -> None
  in
  match Printexc.backtrace_slots stack with
  | Some slots -> List.filter_map frame (Array.to_list slots)
  | None -> []

(* As the program writes it: [Concord__Mvar.take] is [Mvar.take], and [Dune__exe__Redis.get] is
   [Redis.get]. *)
let shown name =
  let after prefix =
    if String.starts_with ~prefix name then
      let n = String.length prefix in
      Some (String.sub name n (String.length name - n))
    else None
  in
  Option.value ~default:name
    (List.find_map after [ "Concord__"; "Concord."; "Dune__exe__" ])

let unit_of { name; _ } = List.hd (String.split_on_char '.' name)

let rec split_while f = function
  | x :: rest when f x ->
      let taken, rest = split_while f rest in
      (x :: taken, rest)
  | rest -> ([], rest)

let last = function [] -> None | list -> Some List.(hd (rev list))

(* Modules of this library whose functions wait in the operations of others. *)
let is_composed { name; _ } =
  starts name
    [
      "Concord__Tasks.";
      "Concord__Scope.";
      "Concord__Workers.";
      "Concord__Blocking.";
      "Concord_aio";
      "Concord_dns";
    ]

(* A callback of the program has called the operation, or a function of this library that waits in
   it. Or it has called another library, which did so. *)
let outermost stack =
  let frames = List.filter (fun f -> not (is_of_stdlib f)) (frames stack) in
  let called, _ = split_while (fun f -> not (is_of_loop f)) frames in
  let ours, callers = split_while is_ours called in
  match (last ours, callers, last callers) with
  | Some ours, caller :: _, Some callback ->
      let is_another f = (not (is_ours f)) && unit_of f <> unit_of callback in
      if is_another caller then
        let { name; _ } = Option.get (last (List.filter is_another callers)) in
        Some { name = shown name; at = callback.at }
      else if is_composed ours then
        Some { name = shown ours.name; at = caller.at }
      else None
  | _ -> None

let by_outermost style operation { name; at } =
  let waits operation = Printf.sprintf ". It has to wait in %s" operation in
  Printf.sprintf
    ". The call that was refused last is %s, at %s%s. Call it in %s.direct" name
    at
    (Option.fold operation ~none:"" ~some:waits)
    style

let by_operation style operation =
  match in_style style operation with
  | Some instead ->
      Printf.sprintf
        ". The operation that was refused last is %s. Use %s instead" operation
        instead
  | None -> ""

let advice style =
  let _, stack, operation = Reach.last_refusal () in
  match (outermost stack, operation) with
  | Some call, _ -> by_outermost style operation call
  | None, Some operation -> by_operation style operation
  | None, None -> ""
