let select = "Event.select"

(* No style of promises has these. *)
let only_direct =
  [
    "Condition.wait";
    "Condition.wait_no_mutex";
    "Condition.loop_no_mutex";
    "Barrier.await";
    "Lazy.force";
    "Lazy.await_evt";
    "Event.timeout";
  ]

let refused () =
  match Atomic.get Operation.refused with
  | Some name when not (List.mem name only_direct) -> Some name
  | Some _ | None -> None

(* Each style has it beside its structures. *)
let in_style style name = style ^ "." ^ if name = select then "select" else name

let advice style =
  match refused () with
  | None -> ""
  | Some name ->
      Printf.sprintf ". The operation that was refused last is %s: use %s" name
        (in_style style name)
