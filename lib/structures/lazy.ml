open Forcing

(* [t], the only Atomic here

   State                Left by           To                    By whom
   Unforced (c, es)     force             Forcing ([], es)      any task
                        an event          Unforced (es, e)      the task that waits
                        a lost event      Unforced (es - e)     the task that enlisted e
   Forcing (ws, es)     force             Forcing ((ws, w), es) any other task
                        cancelled force   Forcing (ws - w, es)  the task that enlisted w
                        an event          Forcing (ws, (es, e)) the task that waits
                        a lost event      Forcing (ws, es - e)  the task that enlisted e
                        needs             Forcing (ws, es)      the forcer, before and
                                                                after it waits for
                                                                another lazy
                        value, failure *  Value, Failed         the forcer; it calls
                                                                all of ws, then of es
                        restart, ws=w::_  Forcing (ws - w, es)  the forcer; it calls w,
                                                                the next forcer
                        restart, ws=[]    Unforced (c, es)      the forcer
   Value v, Failed      never (terminal)

   * linearises the computation; [force], [peek] and the events linearise at the read
   that sees a terminal state.
   The forcer is the task in whose stack [compute] runs: the one whose compare-and-set
   installed [Forcing], or the one whose resumer took [Yours]. If a resumer refuses
   that, the forcer still is it, and offers it to the next. *)
type 'a t = 'a Forcing.t

exception Undefined = Stdlib.Lazy.Undefined

let () = Labels.tell Undefined

type cancel = [ `Restart | `Record | `Protect ]

(* --- Forcing -------------------------------------------------------------- *)

let[@inline never] compute t computation =
  match Forcing.run t computation with
  | v ->
      settle t (Value v);
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if Forcing.was_refused computation || computation.restarts e then
        pass_on t
      else settle t (Failed (e, backtrace));
      Printexc.raise_with_backtrace e backtrace

(* --- Waiting -------------------------------------------------------------- *)

let[@inline never] get_settled t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Unforced _ | Forcing _ ->
      assert false (* the events are resumed afterwards *)

let rec enlist t w =
  match Atomic.get t with
  | Unforced _ | Value _ | Failed _ -> false
  | Forcing f as before ->
      Atomic.compare_and_set t before
        (Forcing { f with waiters = Waiters.push f.waiters w })
      ||
      (* another waiter, a withdrawal, or it is forced *)
      enlist t w

let withdraw t w =
  Operation.leave t w @@ function
  | (Unforced _ | Value _ | Failed _) as state -> state
  | Forcing f -> Forcing { f with waiters = Waiters.count_gone f.waiters }

let rec attempt t () =
  match Atomic.get t with
  | Value _ | Failed _ -> Some Settled
  | Forcing _ -> None
  | Unforced (computation, watchers) as before ->
      if start t before computation watchers then Some Yours
      else (* a waiter or an event came or withdrew *) attempt t ()

and start t before computation watchers =
  Atomic.compare_and_set t before
    (Forcing { computation; waiters = Waiters.empty; watchers; needs = None })

let forcing =
  {
    Operation.default with
    name = "Lazy.force";
    spin = Before;
    how = By_hand { attempt; enlist; withdraw };
  }

let reach seek =
  Reach.probe { passing = (fun effect_ -> seek (Passing effect_)) }

(* Those of the frames that cannot go on while the caller's task waits. *)
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

(* Where no handler but the scheduler may be asked, the effect of a suspension finds the
   frames. It does elsewhere too, but takes longer than the question, which mostly finds
   that there are none. *)
let blocked () =
  let frames = ref [] in
  match Reach.question (Enclosing frames) ~otherwise:() with
  | Some () -> (
      match List.rev !frames with [] -> [] | frames -> blocked_of frames)
  | None -> collect (fun seek -> ignore (reach seek : Reach.host))

let wait_as frames t =
  needs frames (Some (Any t));
  if leads_to frames t then begin
    needs frames None;
    Labels.raises Undefined t;
    raise Undefined
  end;
  match Operation.wait forcing t () with
  | turn ->
      needs frames None;
      turn
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      needs frames None;
      Printexc.raise_with_backtrace e backtrace

let[@inline never] wait_within t =
  match blocked () with
  | [] -> Operation.wait forcing t ()
  | frames -> wait_as frames t

(* With little on the stack, as many tasks may wait for one lazy value. *)
let[@inline] wait t =
  if Reach.nobody_answers () then Operation.wait forcing t () else wait_within t

let rec force_unsettled t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Unforced (computation, watchers) as before ->
      if start t before computation watchers then compute t computation
      else (* a waiter or an event came or withdrew *) force_unsettled t
  | Forcing { computation; _ } -> (
      match wait t with
      | Settled -> get_settled t
      | Yours -> compute t computation)

let[@inline] force t =
  match Atomic.get t with
  | Value v -> v
  | _ -> (force_unsettled [@inlined never]) t

let force_val t = force t

(* --- Making --------------------------------------------------------------- *)

(* The task that forces is known while it computes. *)
let make_known compute ~restarts =
  let t = ref None in
  let compute () =
    Extent.within (fun by ->
        Labels.holding (Option.get !t) (Waits.held by) compute)
  in
  let made = make compute ~restarts in
  t := Some made;
  Labels.made ~kind:"lazy value" made

let make compute ~restarts =
  if Waits.are_kept () then make_known compute ~restarts
  else make compute ~restarts

let from_val v = Atomic.make (Value v)
let if_cancelled (_ : exn) = Suspend.is_cancelled ()
let never (_ : exn) = false

(* There a task that was cancelled cannot be asked whether it was, unless it was by a
   wait of the library's. *)
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

(* --- Looking -------------------------------------------------------------- *)

let is_val t = match Atomic.get t with Value _ -> true | _ -> false

let peek t =
  match Atomic.get t with
  | Value v -> Some (Ok v)
  | Failed (e, _) -> Some (Error e)
  | Unforced _ | Forcing _ -> None

let waiters t =
  match Atomic.get t with
  | Forcing { waiters; _ } -> Waiters.length waiters
  | Unforced _ | Value _ | Failed _ -> 0

(* --- Stdlib's lazy values ------------------------------------------------- *)

exception Being_forced = Stdlib_lazy.Being_forced

let of_stdlib l =
  let rec compute t () =
    let await () =
      match force t with
      | (_ : _) -> ()
      | exception _ when Option.is_some (peek t) -> (* [l] remembers it *) ()
    in
    match Stdlib_lazy.force l ~owner:(Any t) ~await with
    | Forced v -> v
    | Elsewhere await ->
        await ();
        compute t ()
  in
  let self = ref None in
  let restarts = function
    | Being_forced ->
        Option.iter (Labels.raises Being_forced) !self;
        true
    | e -> if_cancelled e
  in
  let knot = ref (fun () -> assert false) in
  let t = make (fun () -> !knot ()) ~restarts in
  self := Some t;
  knot := compute t;
  t

(* --- The event ------------------------------------------------------------ *)

let rec update_watchers t f =
  match Atomic.get t with
  | Value _ | Failed _ -> false
  | (Unforced _ | Forcing _) as before ->
      Atomic.compare_and_set t before (with_watchers f before)
      ||
      (* a waiter came or withdrew, or it is forced *)
      update_watchers t f

and with_watchers f = function
  | Unforced (computation, watchers) -> Unforced (computation, f watchers)
  | Forcing x -> Forcing { x with watchers = f x.watchers }
  | (Value _ | Failed _) as settled -> settled

let watching =
  {
    Operation.default with
    name = "Lazy.await_evt";
    spin = Before;
    how =
      By_hand
        {
          attempt =
            (fun t () ->
              match Atomic.get t with
              | Value _ | Failed _ -> Some Settled
              | Unforced _ | Forcing _ -> None);
          enlist = (fun t w -> update_watchers t (fun ws -> Waiters.push ws w));
          withdraw =
            (fun t _ -> ignore (update_watchers t Waiters.count_gone : bool));
        };
  }

let await_evt t =
  Event.wrap (Event.make watching t ()) (fun (_ : turn) -> get_settled t)
