open Forcing

(* Lazy values that several tasks may force at once. The first one computes the value, and the
   others wait.

   [t] is the only Atomic here, except for the needs, which are in [Forcing]

   State                Left by           To                    By whom
   Unforced (c, es)     force             Forcing ([], es)      any task
   Forcing (ws, es)     needs             Forcing (ws, es)      the forcer, before it
                                                                waits for another lazy
                        value, failure *  Value, Failed         the forcer; it resumes
                                                                all of ws, then all of es
                        restart, ws=w::_  Forcing (ws - w, es)  the forcer; it resumes w,
                                                                the next forcer
                        restart, ws=[]    Unforced (c, es)      the forcer
   Value v, Failed      never (terminal)

   In addition, tasks that force the value enter [ws], events enter [es], and both withdraw.

   * linearises the computation. [force], [peek] and the events linearise at the read that sees
   a terminal state.

   The forcer is the task in whose stack [compute] runs. Its compare-and-set installed
   [Forcing], or its resumer accepted [Yours]. If a resumer refuses [Yours], the task that
   called it is still the forcer, and resumes the next waiter.

   A computation restarts if it ended with an exception that is not its outcome, for example
   because its task was cancelled. Then the first waiter becomes the forcer. *)
type 'a t = 'a Forcing.t

exception Undefined = Stdlib.Lazy.Undefined

type cancel = [ `Restart | `Record | `Protect ]

(* --- Steps ---------------------------------------------------------------- *)

let begun by computation watchers =
  let waiters = Waiters.empty in
  Forcing { computation; by; waiters; watchers; need = no_need }

let force_step by : _ -> _ Step.t = function
  | (Value _ | Failed _) as settled -> Return (settled, Settled)
  | Forcing _ -> Wait
  | Unforced (computation, watchers) ->
      Return (begun by computation watchers, Yours)

let watch_step () : _ -> _ Step.t = function
  | (Value _ | Failed _) as settled -> Return (settled, ())
  | Unforced _ | Forcing _ -> Wait

(* The steps of the forcer. No other task leaves [Forcing]. *)

let settle_step outcome : _ -> _ Step.t = function
  | Forcing { waiters; watchers; _ } ->
      let then_watchers = Step.resume_all watchers (Ok ()) Step.finished in
      Become (outcome, Step.resume_all waiters (Ok Settled) then_watchers)
  | (Unforced _ | Value _ | Failed _) as other -> Return (other, ())

let pass_on_step e : _ -> _ Step.t = function
  | Forcing f when Waiters.is_empty f.waiters ->
      let computation = { f.computation with failed_before = Some e } in
      Return (Unforced (computation, f.watchers), ())
  | Forcing f ->
      let computation = { f.computation with failed_before = Some e } in
      let waiters = Waiters.tail f.waiters
      and by = (Waiters.head f.waiters).arg in
      Step.to_first f.waiters (Ok Yours)
        (Forcing { f with computation; by; waiters; need = no_need })
        ()
  | (Unforced _ | Value _ | Failed _) as other -> Return (other, ())

(* --- The waiters and the forcer ------------------------------------------- *)

let forcing_queue change w = function
  | (Unforced _ | Value _ | Failed _) as state -> state
  | Forcing f -> Forcing { f with waiters = change f.waiters w }

let watching_queue change w = function
  | (Value _ | Failed _) as settled -> settled
  | Unforced (computation, watchers) -> Unforced (computation, change watchers w)
  | Forcing f -> Forcing { f with watchers = change f.watchers w }

let holders t =
  match Atomic.get t with
  | Forcing { by; _ } -> Holders.to_list by
  | Unforced _ | Value _ | Failed _ -> []

let state t =
  match Atomic.get t with
  | Forcing { computation = { failed_before = Some e; _ }; _ }
  | Unforced ({ failed_before = Some e; _ }, _) ->
      "failed before: " ^ Printexc.to_string e
  | Unforced _ | Forcing _ | Value _ | Failed _ -> ""

let forcing =
  {
    Operation.default with
    name = "Lazy.force";
    spin = Before;
    holders;
    state;
    how =
      By_steps
        {
          word = Fun.id;
          step = force_step;
          queue = forcing_queue;
          left = Step.finished;
        };
  }

let watching =
  {
    Operation.default with
    name = "Lazy.await_evt";
    spin = Before;
    holders;
    state;
    undo = Operation.undo_nothing;
    how =
      By_steps
        {
          word = Fun.id;
          step = watch_step;
          queue = watching_queue;
          left = Step.finished;
        };
  }

(* --- Waiting -------------------------------------------------------------- *)

let reach seek =
  Asking.probe { passing = (fun effect_ -> seek (Passing effect_)) }

(* The lazy values that can't be settled while the caller's task waits. If the task suspends,
   they are those whose frames see the effect pass. If its thread blocks, they are all. *)
let blocked_of frames =
  match reach (seek frames) with
  | Suspends -> passed frames
  | Parks ->
      ignore (passed frames : frame list);
      frames
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (passed frames : frame list);
      Printexc.raise_with_backtrace e backtrace

(* The lazy values that the caller's wait blocks. A question ([Enclosing]) finds the frames on
   the stack, and usually there are none. But no question may be asked if the scheduler
   might take every effect. Then the effect of a suspension finds the frames. That works
   everywhere, but takes longer. *)
let blocked () =
  let frames = ref [] in
  match Reach.question (Enclosing frames) ~otherwise:() with
  | Some () -> (
      match List.rev !frames with [] -> [] | frames -> blocked_of frames)
  | None -> collect (fun seek -> ignore (reach seek : Asking.host))

(* The driver notes which lazy value raised this. *)
let undefined_step () _ : _ Step.t = Raise Undefined

(* The needs are declared before the search for a cycle. So if several tasks close a cycle at
   once, at least one of them finds it. *)
let wait_as frames t by =
  while_needed t frames @@ fun () ->
  if leads_to frames t then Step.perform t undefined_step ()
  else Operation.wait forcing t by

let[@inline never] wait_within t by =
  match blocked () with
  | [] -> Operation.wait forcing t by
  | frames -> wait_as frames t by

(* Uses little of the stack, because many tasks may wait for one lazy value. *)
let[@inline] wait t by =
  if Reach.nobody_answers () then Operation.wait forcing t by
  else wait_within t by

(* --- Forcing -------------------------------------------------------------- *)

let get_settled t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Unforced _ | Forcing _ ->
      assert false (* the task is resumed after [t] was settled *)

let failure computation e backtrace =
  if Forcing.was_refused computation || computation.restarts e then None
  else Some (Failed (e, backtrace))

(* The fast path of [settle_step]. Unbroken. *)
let[@inline] try_settle t outcome =
  match Atomic.get t with
  | Forcing { waiters; watchers; _ } as before ->
      Waiters.is_empty waiters && Waiters.is_empty watchers
      && Atomic.compare_and_set t before outcome
  | Unforced _ | Value _ | Failed _ -> false

(* Inlined, because the compiler adds a polling point to a function that ends in such a
   call. *)
let[@inline] settle t outcome =
  if not (try_settle t outcome) then Step.surely t settle_step outcome

(* Unbroken, because [t] has to be settled or passed on. An exception where [Value] is
   allocated counts as the computation's exception. If one comes while [failure] decides
   whether an exception is the outcome, the computation runs again. That is correct because no
   task gets the exception that was to be judged. *)
let[@inline never] compute t computation =
  match Value (Forcing.run t computation) with
  | Value v as outcome ->
      settle t outcome;
      v
  | Failed _ | Unforced _ | Forcing _ ->
      assert false (* the constructor is [Value] here *)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (match failure computation e backtrace with
      | Some failed -> settle t failed
      | None -> Step.surely t pass_on_step e
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Step.surely t pass_on_step e;
          Printexc.raise_with_backtrace e backtrace);
      Printexc.raise_with_backtrace e backtrace

(* The caller was resumed with [Yours], so [t] stays in [Forcing] until it is done. The state is
   read only now. A task that kept a part of an earlier state while it waited would keep all of
   it, with the waiters of that time. *)
let[@inline] compute_as_next t =
  match Atomic.get t with
  | Forcing { computation; _ } -> compute t computation
  | Unforced _ | Value _ | Failed _ ->
      assert false (* only the forcer leaves [Forcing] *)

(* Unbroken, from the change that made this task the forcer, or from the end of its wait, to
   [compute]. Otherwise [t] would stay in [Forcing] forever. *)
let rec force_as t by =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Unforced (computation, watchers) as before ->
      if Atomic.compare_and_set t before (begun by computation watchers) then
        compute t computation
      else (* a waiter or an event came or withdrew *) force_as t by
  | Forcing _ -> (
      Holders.waits by;
      match wait t by with
      | Settled -> get_settled t
      | Yours ->
          Holders.taken by;
          compute_as_next t)

let force_unsettled t =
  if Observer.looks_at_takers () then Holders.within (fun by -> force_as t by)
  else force_as t Holders.unknown

let[@inline] force t =
  match Atomic.get t with
  | Value v -> v
  | _ -> (force_unsettled [@inlined never]) t

let force_val t = force t

(* --- Creating ------------------------------------------------------------- *)

let make compute ~restarts =
  Observer.made ~kind:"lazy value" (make compute ~restarts)

let from_val v = Atomic.make (Value v)
let if_cancelled (_ : exn) = Suspend.is_cancelled ()
let never (_ : exn) = false

(* On some hosts, a cancelled task can't find out afterwards that it was cancelled, unless the
   exception came from a wait of this library. So the computation begins to watch for the end
   of its task. *)
let make_watched compute =
  let is_end = ref never in
  let compute () =
    is_end := Reach.watch_end ();
    compute ()
  in
  make compute ~restarts:(fun e -> !is_end e || if_cancelled e)

let from_fun ?(cancel = `Restart) f =
  match cancel with
  | `Restart when Reach.some_end_tasks () -> make_watched f
  | `Restart -> make f ~restarts:if_cancelled
  | `Record -> make f ~restarts:never
  | `Protect -> make (fun () -> Suspend.protect f) ~restarts:never

let map f t = from_fun (fun () -> f (force t))

let map_val f t =
  match Atomic.get t with Value v -> from_val (f v) | _ -> map f t

(* --- Inspecting the lazy value -------------------------------------------- *)

let is_val t = match Atomic.get t with Value _ -> true | _ -> false

let peek t =
  match Atomic.get t with
  | Value v -> Some (Ok v)
  | Failed (e, _) -> Some (Error e)
  | Unforced _ | Forcing _ -> None

let waiters t =
  match Atomic.get t with
  | Forcing { waiters; watchers; _ } ->
      Waiters.length waiters + Waiters.length watchers
  | Unforced (_, watchers) -> Waiters.length watchers
  | Value _ | Failed _ -> 0

(* --- Stdlib's lazy values ------------------------------------------------- *)

exception Being_forced = Stdlib_lazy.Being_forced

let of_stdlib l =
  let rec compute t () =
    let await () =
      match force t with
      | (_ : _) -> ()
      | exception _ when Option.is_some (peek t) ->
          (* [l] remembers this exception *) ()
    in
    match Stdlib_lazy.force l ~owner:(Any t) ~await with
    | Forced v -> v
    | Elsewhere await ->
        await ();
        compute t ()
  in
  let restarts = function Being_forced -> true | e -> if_cancelled e in
  (* the computation refers to [t], and [t] to the computation *)
  let knot = ref (fun () -> assert false) in
  let t = make (fun () -> !knot ()) ~restarts in
  knot := compute t;
  t

(* --- The event ------------------------------------------------------------ *)

let await_evt t =
  Event.wrap (Event.make watching t ()) (fun () -> get_settled t)
