(* The host forks the tasks of a scope, cancels them and waits for them. This file decides
   when the scope is cancelled, and which exception it raises in the end ({!Ending}). *)
exception Cancelled

let () =
  Printexc.register_printer (function
    | Cancelled -> Some "Concord.Scope.Cancelled"
    | _ -> None)

type t = { host : Suspend.scope; ending : Ending.t }

let check_cancelled () = Suspend.suspend (fun _ -> Some ())

type cause =
  | Cancellation of exn * Printexc.raw_backtrace
  | Failure of exn * Printexc.raw_backtrace

(* Finds out whether an exception is the host's cancellation or a failure. A host raises the
   same exception, perhaps with different arguments, in each suspension of a task that it has
   cancelled. So a further suspension shows whether the task's exception is of that kind.

   If the host cancels several tasks at once, one of them may get [Cancelled] from another one's
   promise before it suspends, and so before it gets the host's exception. *)
let cause e backtrace =
  match check_cancelled () with
  | exception again when Printexc.exn_slot_id again = Printexc.exn_slot_id e ->
      Cancellation (e, backtrace)
  | exception again when e == Cancelled -> Cancellation (again, backtrace)
  | () | (exception _) -> Failure (e, backtrace)

let change t after = if Ending.change t.ending after then t.host.cancel ()

let raised t e =
  change t
    (match cause e (Printexc.get_raw_backtrace ()) with
    | Cancellation (e, backtrace) -> Unwound (e, backtrace)
    | Failure (e, backtrace) -> Failed (e, backtrace))

let cancel t = change t Stopped

let fork t f =
  if Ending.is_closed t.ending then
    invalid_arg "Scope.fork: the scope has ended";
  let f = Locals.carry f in
  t.host.fork (fun () -> try f () with e -> raised t e)

let fail promise e =
  let e, backtrace =
    match cause e (Printexc.get_raw_backtrace ()) with
    | Cancellation (_, backtrace) -> (Cancelled, backtrace)
    | Failure (e, backtrace) -> (e, backtrace)
  in
  ignore (Promise.try_fail ~backtrace promise e : bool)

let[@inline never] note_filler promise =
  let task = !Observer.it.task () in
  Filler.add (fun () -> task) ~is_resolved:Promise.is_resolved promise

let fork_promise t f =
  let promise = Promise.create () in
  let fill () =
    match
      if Observer.are_kept () then note_filler promise;
      f ()
    with
    | v -> ignore (Promise.try_fill promise v : bool)
    | exception e -> fail promise e
  in
  fork t fill;
  promise

(* --- Running -------------------------------------------------------------- *)

(* If the host has no scopes of its own, a small scheduler runs in the calling task. *)
let inside body =
  Fifo.run (fun () ->
      match Host_kit.scopes () with
      | Some { scope } -> scope body
      | None -> assert false (* this is a task of Fifo, which has scopes *))

let open_scope_unobserved body =
  match Host_kit.scopes () with
  | Some { scope } -> scope body
  | None -> inside body

(* Called in the new task. *)
let note_origin origin =
  match Reach.question (Who.Forked origin) ~otherwise:false with
  | Some true -> ()
  | Some false | None -> !Observer.it.origin (!Observer.it.waker ()) origin

let observed (host : Suspend.scope) =
  let fork f =
    let origin = Forks.here () in
    let run () =
      if Observer.are_kept () then note_origin origin;
      Forks.run origin ~ask:!Observer.it.waker f
    in
    host.fork run
  in
  { host with fork }

let open_scope body =
  if Forks.are_observed () then
    open_scope_unobserved (fun host -> body (observed host))
  else open_scope_unobserved body

type 'a outcome =
  | Returned of 'a
  | Stopped
  | Unwound of exn * Printexc.raw_backtrace
  | Raised of exn * Printexc.raw_backtrace
  | Failed of exn * Printexc.raw_backtrace

let run_to_end_by open_scope body =
  let ending = Ending.create () and result = ref None in
  let run_body host =
    let t = { host; ending } in
    match body t with v -> result := Some v | exception e -> raised t e
  in
  let ended =
    match open_scope run_body with
    | () -> None
    | exception e -> Some (e, Printexc.get_raw_backtrace ())
  in
  match (Ending.close ending, ended, !result) with
  | Failed (e, backtrace), _, _ -> Failed (e, backtrace)
  | _, Some (e, backtrace), _ -> Raised (e, backtrace)
  | Unwound (e, backtrace), None, _ -> Unwound (e, backtrace)
  | Stopped, None, None -> Stopped
  | (Running | Stopped), None, Some v -> Returned v
  | (Running | Ended), None, _ -> assert false (* the body has ended by now *)

let run_to_end body = run_to_end_by open_scope body

let run body =
  match run_to_end body with
  | Returned v -> v
  | Stopped -> raise Cancelled
  | Unwound (e, backtrace) | Raised (e, backtrace) | Failed (e, backtrace) ->
      Printexc.raise_with_backtrace e backtrace

(* --- Scopes that any thread may cancel ---------------------------------------- *)

let expiring_at_once open_scope body =
  run_to_end_by open_scope (fun t -> body ~expire:(fun () -> cancel t))

(* Only a task of the host can cancel the scope. Another thread asks one to do so. *)
let expiring_by_task body =
  run_to_end @@ fun t ->
  let is_late = Promise.create () in
  let decide late = ignore (Promise.try_fill is_late late : bool) in
  fork t (fun () -> if Promise.await is_late then cancel t);
  body ~expire:(fun () -> decide true);
  decide false

(* This list only grows, and only while libraries are initialised. *)
let expiring : (Suspend.scopes * Suspend.scopes) list Atomic.t = Atomic.make []
let expires_by scopes by = Atomically.update expiring (List.cons (scopes, by))
let no_scopes = Suspend.{ scope = (fun _ -> assert false (* never called *)) }

(* The answer may come from a Fifo around the caller's scheduler. *)
let are_of_fifo scopes =
  match Reach.question Handler.Own_scopes ~otherwise:no_scopes with
  | Some own -> own == scopes
  | None -> false

let run_expiring body =
  match Host_kit.scopes () with
  | None -> expiring_at_once inside body
  | Some scopes -> (
      match List.assq_opt scopes (Atomic.get expiring) with
      | Some { scope } -> expiring_at_once scope body
      | None when are_of_fifo scopes -> expiring_at_once scopes.scope body
      | None -> expiring_by_task body)
