(* A value or an exception that comes once, and the tasks that wait for it.

   [t], the only Atomic of a promise

   State       Left by           To                By whom
   Waiting ws  settle          * Value, Failed     any task, which resumes all
                                                   of ws
   Value v, Failed (e, bt)       never (terminal)

   In addition, waiters enter [ws], and withdraw. They are tasks, or callbacks (see [watch]).

   * linearises a successful [try_fill] or [try_fail]. A failed one, [peek] and [await]
   linearise at the read that sees a terminal state. The answers of the resumers don't matter,
   because the outcome stays here.

   A waiter is resumed with [Ok ()], and reads the outcome itself. So an exception keeps its
   backtrace (clause S5 of [concord_suspend.mli]). *)
type 'a state =
  | Waiting of (unit, unit) Waiters.t
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace

type 'a t = 'a state Atomic.t

exception Already_filled = Errors.Already_filled

let refuse t =
  Errors.raised_by t Already_filled;
  raise Already_filled

let unresolved = Waiting Waiters.empty

let create ?name () =
  Observer.made ~kind:"promise" ?name (Atomic.make unresolved)

let of_value v = Atomic.make (Value v)

(* --- Steps ---------------------------------------------------------------- *)

let was_resolved = -1

(* The result is the number of waiters that were resumed, or [was_resolved]. *)
let settle_step outcome : _ -> _ Step.t = function
  | (Value _ | Failed _) as resolved -> Return (resolved, was_resolved)
  | Waiting waiters ->
      let resumed = Step.resume_and_count waiters (Ok ()) (fun n -> Done n) in
      Become (outcome, resumed)

let await_step () : _ -> _ Step.t = function
  | (Value _ | Failed _) as resolved -> Return (resolved, ())
  | Waiting _ -> Wait

(* --- The waiters ---------------------------------------------------------- *)

let queue change w = function
  | (Value _ | Failed _) as resolved -> resolved
  | Waiting waiters -> Waiting (change waiters w)

let awaiting =
  {
    Operation.default with
    name = "Promise.await";
    undo = Operation.undo_nothing;
    spin = Before;
    how =
      By_steps { word = Fun.id; step = await_step; queue; left = Step.finished };
  }

(* --- Resolving ------------------------------------------------------------ *)

(* [settle_step] for one waiter, the most common case. [counts] is asked before, because a waiter
   that refuses is withdrawn. Unbroken between the change and the resumption. *)
let[@inline never] settle_one t before w outcome =
  let counts = Step.counts w in
  if not (Atomic.compare_and_set t before outcome) then
    Step.perform t settle_step outcome
  else if Waiter.resume w (Ok ()) || counts then 1
  else 0

let settle t outcome =
  match Atomic.get t with
  | Waiting waiters as before
    when Waiters.is_empty waiters && Atomic.compare_and_set t before outcome ->
      0
  | Waiting waiters as before when Waiters.size waiters = 1 ->
      settle_one t before (Waiters.head waiters) outcome
  | Waiting _ -> Step.perform t settle_step outcome
  | Value _ | Failed _ -> was_resolved

let try_fill t v = settle t (Value v) >= 0
let fill t v = if not (try_fill t v) then refuse t

let resolve_failed backtrace t e =
  let backtrace =
    match backtrace with Some b -> b | None -> Backtrace.get ()
  in
  settle t (Failed (e, backtrace))

let try_fail ?backtrace t e = resolve_failed backtrace t e >= 0

let try_resolve ?backtrace t = function
  | Ok v -> try_fill t v
  | Error e -> try_fail ?backtrace t e

let fail ?backtrace t e = if not (try_fail ?backtrace t e) then refuse t

let resolve ?backtrace t result =
  if not (try_resolve ?backtrace t result) then refuse t

let fail_waiters ?backtrace t e =
  let waiters = resolve_failed backtrace t e in
  if waiters < 0 then refuse t else waiters

(* --- Reading the outcome -------------------------------------------------- *)

let is_resolved t =
  match Atomic.get t with Waiting _ -> false | Value _ | Failed _ -> true

let peek t =
  match Atomic.get t with
  | Waiting _ -> None
  | Value v -> Some (Ok v)
  | Failed (e, _) -> Some (Error e)

let get_resolved t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Waiting _ -> assert false (* waiters are resumed after that *)

let waiters t =
  match Atomic.get t with
  | Waiting waiters -> Waiters.length waiters
  | Value _ | Failed _ -> 0

(* --- Waiting -------------------------------------------------------------- *)

let await t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Waiting _ ->
      Operation.wait awaiting t ();
      get_resolved t

let await_evt t =
  Event.wrap (Event.make awaiting t ()) (fun () -> get_resolved t)

let await_result t =
  match Atomic.get t with
  | Value v -> Ok v
  | Failed (e, _) -> Error e
  | Waiting _ ->
      Operation.wait awaiting t ();
      Option.get (peek t)

let await_result_evt t =
  Event.wrap (Event.make awaiting t ()) (fun () -> Option.get (peek t))

(* --- Callbacks ------------------------------------------------------------ *)

(* A callback is a waiter without a task, and its resumer always accepts. Unbroken: if the
   resumer raised before anything is done, its caller would think that the callback was called
   (clause H2 of [concord_suspend.mli]). So the resumer calls [call] again if it raises. A
   second [call] does nothing if the first one has done its work. *)
let rec insist tries call =
  match call () with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if tries > 0 then insist (tries - 1) call;
      Printexc.raise_with_backtrace e backtrace

(* After so many exceptions the cause is [call] itself, not a signal. *)
let most_tries = 16

let watch t call =
  let w = Waiter.make () in
  let resumer _ =
    insist most_tries call;
    true
  in
  w.Waiter.resumer <- resumer;
  if not (Operation.enlist awaiting t w) then call ();
  w

(* [called], of one callback

   State  Left by     To    By whom
   false  call      * true  the task that resolves [t]; it then calls [f]
          withdraw    true  any thread; it then withdraws the waiter
   true   never (terminal)

   * Unbroken from this change to the beginning of [f]. *)
let on_resolve_cancellable t f =
  let carried = Locals.carry (fun f -> f ()) in
  let called = Atomic.make false in
  let decide () = Atomic.compare_and_set called false true in
  let call () =
    if not (Atomic.get called) then
      let result = Option.get (peek t) in
      Callback.run (fun () -> carried (fun () -> if decide () then f result))
  in
  let w = watch t call in
  let cancel () =
    decide ()
    && begin
      Operation.withdraw awaiting t w;
      true
    end
  in
  cancel

let on_resolve t f =
  ignore (on_resolve_cancellable t f : unit -> bool);
  ()

(* --- Promises of promises ------------------------------------------------- *)

let rec keep_failure result e =
  match Failed (e, Backtrace.get ()) with
  | failed -> result := failed
  | exception e -> keep_failure result e

(* [result] remembers the outcome of [f], so that a repeated [call] doesn't call [f] again (see
   [watch]). Only the thread that resolves [t] uses these references. If an exception comes
   before [called] is set, [call] raises it, and is called again (unbroken). *)
let map f t =
  let mapped = create () and result = ref unresolved and called = ref false in
  let carried = Locals.carry (fun f -> f ()) in
  let apply v =
    called := true;
    Value (f v)
  in
  let compute () =
    match Atomic.get t with
    | Value v -> Callback.run (fun () -> carried (fun () -> apply v))
    | Failed (e, backtrace) -> Failed (e, backtrace)
    | Waiting _ ->
        unresolved (* impossible, because this is called when [t] is resolved *)
  in
  let call () =
    (match !result with
    | Waiting _ -> (
        match compute () with
        | outcome -> result := outcome
        | exception e when !called -> keep_failure result e)
    | Value _ | Failed _ -> ());
    ignore (settle mapped !result : int)
  in
  ignore (watch t call : _ Waiter.t);
  mapped

let to_result t =
  let result = create () in
  let call () = ignore (settle result (Value (Option.get (peek t))) : int) in
  ignore (watch t call : _ Waiter.t);
  result

(* [rest], of a promise that is made of several: the functions that withdraw its callbacks

   State    Left by     To        By whom
   []       composed_of all       the task that makes the promise, once
   w :: ws  forget      ws        any thread that has found the promise resolved; it
                                  then calls [w] *)
type 'a composed = { promise : 'a t; rest : (unit -> unit) list Atomic.t }

let compose () = { promise = create (); rest = Atomic.make [] }

let rec forget rest =
  match Atomic.get rest with
  | [] -> ()
  | withdraw :: ws as before ->
      if Atomic.compare_and_set rest before ws then withdraw ();
      forget rest

(* If [look] is called again, it does nothing that it has done before. *)
let watch_for composed t look =
  let call () =
    look ();
    if is_resolved composed.promise then forget composed.rest
  in
  let w = watch t call in
  fun () -> Operation.withdraw awaiting t w

let composed_of { promise; rest } withdrawals =
  Atomic.set rest withdrawals;
  (* a callback that resolved the promise before this found nothing to withdraw *)
  if is_resolved promise then forget rest;
  promise

let is_filled t =
  match Atomic.get t with Value _ -> true | Waiting _ | Failed _ -> false

let has_failed t =
  match Atomic.get t with Failed _ -> true | Waiting _ | Value _ -> false

(* Watches one of several promises, all of which must be filled. *)
let needed composed are_filled values t =
  watch_for composed t @@ fun () ->
  match Atomic.get t with
  | Failed (e, backtrace) ->
      ignore (settle composed.promise (Failed (e, backtrace)) : int)
  | Value _ ->
      if are_filled () then
        ignore (settle composed.promise (Value (values ())) : int)
  | Waiting _ -> ()

let both a b =
  let both = compose () in
  let are_filled () = is_filled a && is_filled b
  and values () = (get_resolved a, get_resolved b) in
  let withdraw_a = needed both are_filled values a in
  let withdraw_b = needed both are_filled values b in
  composed_of both [ withdraw_a; withdraw_b ]

(* [pending], of many promises

   State    Left by       To   By whom
   t :: ts  are_all       ts   any thread that has found that [t] is filled, or has
                               failed
   []       never (terminal)

   This is a list and not a counter, so that the thread can start again (unbroken). *)
let rec are_all holds pending =
  match Atomic.get pending with
  | [] -> true
  | t :: ts as before ->
      holds t
      && begin
        ignore (Atomic.compare_and_set pending before ts : bool);
        are_all holds pending
      end

let all ts =
  let all = compose () and pending = Atomic.make ts in
  let values () = List.map get_resolved ts in
  if List.is_empty ts then ignore (settle all.promise (Value []) : int);
  composed_of all
    (List.map (needed all (fun () -> are_all is_filled pending) values) ts)

let first_filled ts =
  if List.is_empty ts then invalid_arg "Promise.first_filled: the list is empty";
  let first = compose () and pending = Atomic.make ts in
  let first_failure = Atomic.make unresolved in
  let candidate t =
    watch_for first t @@ fun () ->
    match Atomic.get t with
    | Value _ as value -> ignore (settle first.promise value : int)
    | Failed _ as failed ->
        ignore (Atomic.compare_and_set first_failure unresolved failed : bool);
        if are_all has_failed pending then
          ignore (settle first.promise (Atomic.get first_failure) : int)
    | Waiting _ -> ()
  in
  composed_of first (List.map candidate ts)

(* --- Threads and domains -------------------------------------------------- *)

(* Unbroken, because the promise must be resolved. The thread blocks all signals except in
   [f], under [mask]. If a callback of the promise raises, this function raises its
   exception. *)
let rec fill_with mask t f =
  let fill () =
    match f () with
    | v -> ignore (try_fill t v : bool)
    | exception e -> ignore (try_fail t e : bool)
  in
  match Signals.under mask fill with
  | () -> ()
  | exception e ->
      let backtrace = Backtrace.get () in
      let fail () = Printexc.raise_with_backtrace e backtrace in
      if is_resolved t then fail () else fill_with mask t fail

(* A new thread or domain doesn't inherit whether backtraces are recorded. *)
let recording f =
  let status = Printexc.backtrace_status () in
  fun () ->
    Printexc.record_backtrace status;
    f ()

let started start f =
  let t = create () in
  let f = Locals.carry f in
  let origin = if Observer.are_kept () then Some (Forks.here ()) else None in
  let f () =
    Filler.add_thread ?origin ~is_resolved t;
    f ()
  in
  Signals.while_blocked (fun mask ->
      start (recording (fun () -> fill_with mask t f)));
  t

let in_thread f =
  started (fun run -> ignore (Thread.create run () : Thread.t)) f

let in_domain f =
  started
    (fun run -> ignore (Domain.spawn run : unit Domain.t))
    (fun () ->
      Identity.clear_at_end ();
      f ())
