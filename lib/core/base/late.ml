let this_thread () = Thread.id (Thread.self ())

(* A thread adds only its own entries to the two lists below, and removes only those. *)
type late = { thread : int; exn : exn; backtrace : Printexc.raw_backtrace }

let late : late list Atomic.t = Atomic.make []

(* The threads that are in [protect]. A thread is listed once for each call that it is in. *)
let protected : int list Atomic.t = Atomic.make []

let is_protected () =
  match Atomic.get protected with
  | [] -> false
  | threads -> List.mem (this_thread ()) threads

(* Unbroken. An exception that comes meanwhile is dropped, and [e] is kept on the next try. The
   call of [keep] in the handler must not be a tail call, as in [Step.go_on]. *)
let rec keep exn backtrace =
  try
    let kept = { thread = this_thread (); exn; backtrace } in
    Atomically.update late (List.cons kept)
  with _ -> Sys.opaque_identity (keep exn backtrace)

(* Raises the oldest exception and drops the others. *)
let rec raise_first () =
  let before = Atomic.get late and thread = this_thread () in
  match List.partition (fun kept -> kept.thread = thread) before with
  | [], _ -> ()
  | mine, others ->
      if Atomic.compare_and_set late before others then
        let { exn; backtrace; _ } = List.hd (List.rev mine) in
        Printexc.raise_with_backtrace exn backtrace
      else raise_first ()

let raise_kept () =
  if not (List.is_empty (Atomic.get late) || is_protected ()) then
    raise_first ()

let rec without thread = function
  | [] -> []
  | first :: rest when first = thread -> rest
  | first :: rest -> first :: without thread rest

(* Unbroken *)
let rec leave_protected thread =
  try Atomically.update protected (without thread)
  with e ->
    leave_protected thread;
    raise e

let protect f =
  let thread = this_thread () in
  Atomically.update protected (List.cons thread);
  match f () with
  | v ->
      leave_protected thread;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave_protected thread;
      Printexc.raise_with_backtrace e backtrace
