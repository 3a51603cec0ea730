open Async

let caught f =
  match f () with
  | v -> Ok v
  | exception e -> Error (e, Printexc.get_raw_backtrace ())

let released = function
  | Ok v -> v
  | Error (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

let name = "Async, Concord_async.direct"

type t = unit Deferred.t list ref
type task = unit

(* Async's monitor catches the exception of a task. Here the task catches it first. *)
let run f =
  let spawned = ref [] in
  let body () =
    let first = Concord_async.direct (fun () -> caught (fun () -> f spawned)) in
    Deferred.bind first ~f:(fun v ->
        Deferred.map (Deferred.all_unit !spawned) ~f:(fun () -> v))
  in
  match Thread_safe.block_on_async_exn body with
  | outcome -> released outcome
  | exception e -> raise (Monitor.extract_exn e)

let spawn spawned f = spawned := Concord_async.direct f :: !spawned
let yield = Concord.Tasks.yield
let cancel = None
let is_cancellation _ = false

let not_offered =
  let one_loop = "there is one loop, and it blocks its thread" in
  [
    ("backtraces", "Async does not promise them");
    ("inside", one_loop);
    ("nested", one_loop);
    ("around", one_loop);
    ("foreign", one_loop);
    ("domains", "Async runs on one domain");
  ]
