exception Cancelled

let () =
  Printexc.register_printer (function
    | Cancelled -> Some "Concord.Scope.Cancelled"
    | _ -> None)

(* [state], the only Atomic here: what [run] will raise

   State      Left by       To           By whom
   Running    cancel        Stopped      a task of the scope *
              a task's end  Unwound e    a task that its host cancelled, or the body *
              a task's end  Failed e     a task that raised e, or the body *
              run           Ended        the task that opened it
   Stopped    a task's end  Failed e     as above
              run           Ended
   Unwound    a task's end  Failed e     as above
              run           Ended
   Failed     run           Ended
   Ended      never (terminal)

   * Debt: the task then cancels the host's scope, which may be done twice.

   A task that was unwound has raised its host's exception. If the host cancelled the
   whole scope, then the host's scope raises the reason, and so does [run]; else the
   host cancelled this one task. *)
type state =
  | Running
  | Stopped
  | Unwound of exn * Printexc.raw_backtrace
  | Failed of exn * Printexc.raw_backtrace
  | Ended

type t = { host : Suspend.scope; state : state Atomic.t }

(* A host raises one exception, with whatever arguments, in a task that it has
   cancelled: so a further suspension shows whether [e] is of that kind. *)
let is_of_host e =
  match Suspend.suspend (fun _ -> Some ()) with
  | () -> false
  | exception host's -> Printexc.exn_slot_id host's = Printexc.exn_slot_id e

let rec end_with t after =
  match (Atomic.get t.state, after) with
  | (Running as before), _ | ((Stopped | Unwound _) as before), Failed _ ->
      if Atomic.compare_and_set t.state before after then t.host.cancel ()
      else (* another task has ended, on another domain *) end_with t after
  | (Stopped | Unwound _ | Failed _ | Ended), _ -> ()

let raised t e backtrace =
  end_with t
    (if is_of_host e then Unwound (e, backtrace) else Failed (e, backtrace))

let cancel t = end_with t Stopped

let fork t f =
  (match Atomic.get t.state with
  | Ended -> invalid_arg "Scope.fork: the scope has ended"
  | Running | Stopped | Unwound _ | Failed _ -> ());
  t.host.fork (fun () ->
      try f () with e -> raised t e (Printexc.get_raw_backtrace ()))

let fork_promise t f =
  let promise = Promise.create () in
  fork t (fun () ->
      match f () with
      | v -> ignore (Promise.try_fill promise v : bool)
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          let e = if is_of_host e then Cancelled else e in
          ignore (Promise.try_fail ~backtrace promise e : bool));
  promise

(* --- Running --------------------------------------------------------------- *)

(* Where the host does not say how: a scheduler in the calling task. *)
let inside body =
  Fifo.run (fun () ->
      match Host_kit.scopes () with
      | Some { scope } -> scope body
      | None -> assert false (* it is a task of Fifo *))

let open_scope body =
  match Host_kit.scopes () with
  | Some { scope } -> scope body
  | None -> inside body

let run body =
  let state = Atomic.make Running and result = ref None in
  let run_body host =
    let t = { host; state } in
    match body t with
    | v -> result := Some v
    | exception e -> raised t e (Printexc.get_raw_backtrace ())
  in
  let ended =
    match open_scope run_body with
    | () -> None
    | exception e ->
        (* the host's, or a signal handler's *)
        Some (e, Printexc.get_raw_backtrace ())
  in
  match (Atomic.exchange state Ended, ended, !result) with
  | Failed (e, backtrace), _, _
  | _, Some (e, backtrace), _
  | Unwound (e, backtrace), None, _ ->
      Printexc.raise_with_backtrace e backtrace
  | Stopped, None, None -> raise Cancelled
  | (Running | Stopped), None, Some v -> v
  | (Running | Ended), None, _ -> assert false (* the body has ended *)
