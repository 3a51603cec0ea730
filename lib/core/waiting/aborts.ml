type t = { run : unit -> unit; first : bool }
type due = { mutable left : t list }

let nothing_due = { left = [] }

let rec run_each due ~all =
  match due.left with
  | a :: rest when all || a.first ->
      due.left <- rest;
      a.run ();
      run_each due ~all
  | _ -> ()

(* Unbroken. If an abort raises or is cancelled, the other aborts run nevertheless, because one
   of them may have to lock a mutex again. The first exception is raised. *)
let rec run due ~all =
  try run_each due ~all
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    (try run due ~all with _ -> ());
    Printexc.raise_with_backtrace e backtrace

let run_due due = run due ~all:true
let run_first due = run due ~all:false
let is_empty due = List.is_empty due.left
let not_first = List.filter (fun a -> not a.first)

let leave_out within due =
  let others = List.filter (fun a -> not (List.memq a within)) due.left in
  let first, last = List.partition (fun a -> a.first) others in
  due.left <- first @ last

let with_due aborts f =
  let due = { left = aborts } in
  try f due
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    (try run_due due with _ -> ());
    Printexc.raise_with_backtrace e backtrace
