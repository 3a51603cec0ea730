open Effect.Deep
open Concord.Tools.Suspend

exception Cancelled
exception Interrupt

type fault = Block | Again

type t = {
  mutex : Mutex.t;
  ready : (unit -> unit) Queue.t;
  mutable seen : (fault * string) list;
}

type 'a outcome =
  | Waits
  | Returned of 'a
  | Raised of exn * Printexc.raw_backtrace

type 'a task = {
  mutable outcome : 'a outcome;
  mutable raise_in_it : exn -> bool;
  mutable shields : int;  (** How many [Suspend.protect]s it is in. *)
  mutable stopped : bool;
}

type hooks = {
  performs : unit -> unit;
  waits : unit -> unit;
  resumes : unit -> unit;
  resumed : unit -> unit;
}

let () =
  Printexc.register_printer (function
    | Cancelled -> Some "the cancellation"
    | Interrupt -> Some "the exception of a signal handler"
    | _ -> None)

let no_hooks =
  { performs = ignore; waits = ignore; resumes = ignore; resumed = ignore }

let create () = { mutex = Mutex.create (); ready = Queue.create (); seen = [] }
let push t go_on = Mutex.protect t.mutex (fun () -> Queue.push go_on t.ready)
let pop t = Mutex.protect t.mutex (fun () -> Queue.take_opt t.ready)

(* Once, because many tasks may see the same fault. *)
let blame t fault text =
  Mutex.protect t.mutex @@ fun () ->
  if not (List.mem (fault, text) t.seen) then t.seen <- (fault, text) :: t.seen

let faults t fault =
  List.filter (fun (which, _) -> which = fault) t.seen |> List.rev_map snd

let rec settle t =
  match pop t with
  | None -> ()
  | Some go_on ->
      go_on ();
      settle t

(* --- One wait ---------------------------------------------------------------- *)

(* [stage], one Atomic per wait

   State             Left by                            To
   Undecided         its resumer                        Resumed
                     [cancel]                           Cancelled_before
                     [block] returns Some or raises     Left
   Resumed           the same, which is a fault         Left
   Cancelled_before  the same                           Left
   Left              never (terminal)

   Debt: the code that makes it Resumed or Cancelled_before puts the task into [ready]. The
   task continues when [settle] takes it from there, unless the state is Left by then. *)
type stage = Undecided | Resumed | Cancelled_before | Left

exception Suspends

(* Calls [block], and records a fault if it suspends. *)
let call t block resumer =
  match_with block resumer
    {
      retc = Fun.id;
      exnc =
        (fun e ->
          Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ()));
      effc =
        (fun (type b) (e : b Effect.t) ->
          match e with
          | Suspend _ ->
              Some
                (fun (k : (b, _) continuation) ->
                  blame t Block
                    "block performs Suspend, but it must not suspend";
                  discontinue k Suspends)
          | _ -> None);
    }

let suspend (type a) t task hooks ~refuses (block : a resumer -> a option)
    (k : (a, unit) continuation) =
  let stage = Atomic.make Undecided in
  let decide decided go_on =
    Atomic.compare_and_set stage Undecided decided
    && begin
      (* If [block] returned a value after the cancellation, the task has continued with that. *)
      push t (fun () -> if Atomic.get stage = decided then go_on ());
      true
    end
  in
  let resumer outcome =
    hooks.resumes ();
    let go_on () =
      match outcome with Ok v -> continue k v | Error e -> discontinue k e
    in
    let accepted = decide Resumed go_on in
    if accepted then hooks.resumed ()
    else
      begin match Atomic.get stage with
      | Resumed ->
          blame t Again "a resumer that had returned true was called again"
      | Left ->
          blame t Block
            "a resumer was called after its block had returned a value, or \
             raised"
      | Undecided | Cancelled_before -> ()
      end;
    accepted
  in
  let leave () =
    if Atomic.exchange stage Left = Resumed then
      blame t Block
        "block resumed its own task, and then returned a value or raised, but \
         it should return None"
  in
  task.outcome <- Waits;
  task.raise_in_it <-
    (fun e -> decide Cancelled_before (fun () -> discontinue k e));
  hooks.performs ();
  if refuses then ignore (task.raise_in_it Cancelled : bool);
  match call t block resumer with
  | None -> hooks.waits ()
  | Some v ->
      leave ();
      continue k v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave ();
      discontinue_with_backtrace k e backtrace

(* --- Tasks ------------------------------------------------------------------- *)

let shield task (k : (unit -> unit, unit) continuation) =
  task.shields <- task.shields + 1;
  continue k (fun () -> task.shields <- task.shields - 1)

let start ?(hooks = no_hooks) ?cancelled t f =
  let raise_in_it _ = false in
  let task = { outcome = Waits; raise_in_it; shields = 0; stopped = false } in
  match_with f ()
    {
      retc = (fun v -> task.outcome <- Returned v);
      exnc =
        (fun e -> task.outcome <- Raised (e, Printexc.get_raw_backtrace ()));
      effc =
        (fun (type b)
          (e : b Effect.t)
          :
          ((b, unit) continuation -> unit) option
        ->
          let cancelled =
            if task.stopped then Some `Before_block else cancelled
          in
          let is_cancelled how = task.shields = 0 && cancelled = Some how in
          match e with
          | Suspend _ when is_cancelled `Before_block ->
              Some (fun k -> discontinue k Cancelled)
          | Suspend block ->
              let refuses = is_cancelled `At_block in
              Some (suspend t task hooks ~refuses block)
          | Protect -> Some (shield task)
          | _ -> None);
    };
  task

let cancel ?(by = Cancelled) task = task.shields = 0 && task.raise_in_it by

let stop task =
  let stops = cancel task in
  if stops then task.stopped <- true;
  stops

let outcome task = task.outcome
