let this_thread () = Thread.id (Thread.self ())

(* Each thread adds to both lists, and removes from them, only what is its own. *)
type late = { thread : int; exn : exn; backtrace : Printexc.raw_backtrace }

let late : late list Atomic.t = Atomic.make []

(* The threads that are in [protect], once for each time. *)
let protected : int list Atomic.t = Atomic.make []

let is_protected () =
  match Atomic.get protected with
  | [] -> false
  | threads -> List.mem (this_thread ()) threads

(* Another one that comes meanwhile is dropped: the thread goes on with what it was
   given. The call of itself is not the last thing that it does, as in [Step.go_on]. *)
let rec keep exn backtrace =
  try
    let kept = { thread = this_thread (); exn; backtrace } in
    Atomically.update late (List.cons kept)
  with _ -> Sys.opaque_identity (keep exn backtrace)

(* Raises the first one, and drops the others: a thread that was interrupted twice is
   interrupted once. *)
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

let leave_protected thread =
  match Atomically.update protected (without thread) with
  | () -> ()
  | exception e ->
      (* a signal handler's, before the list was changed *)
      let backtrace = Printexc.get_raw_backtrace () in
      Atomically.update protected (without thread);
      Printexc.raise_with_backtrace e backtrace

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
