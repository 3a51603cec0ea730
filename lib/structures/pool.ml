exception Closed = Errors.Closed

(* The arguments of [create]. *)
type 'a settings = {
  limit : int;
  make : unit -> 'a;
  validate : 'a -> bool;
  dispose : 'a -> unit;
  keep_after : exn -> bool;
}

(* Resources that tasks use one at a time. [size] counts the resources that exist, and those
   that are being made or disposed of. A task that does that, or that uses a resource, is the
   holder of the resource. The other resources are [idle].

   [t], the only Atomic here

   State         Left by        To                            By whom
   open, idle    take         * the first one is not idle     any task, the new holder
                 give         * one more is idle              the holder
                 gone         * size - 1                      the holder, after [dispose] or a [make]
                                                              that failed
                 close        * closed                        any task; it then disposes of the idle ones
   open, none    take         * size + 1                      any task, while size < limit; it makes one
   is idle       give         * the first taker leaves its queue
                                                              the holder, while tasks wait; the taker
                                                              holds the resource then
                 gone         * the first taker leaves its queue
                                                              the same; the taker makes another one
                 give, gone, close: as above, if no task waits
   closed        give           one more is idle              the holder; it then disposes of the idle
                                                              ones
                 take_idle      the first one is not idle     any task, which disposes of it
                 gone         * size - 1                      the holder; at 0 it resumes all [enders]

   Takers enter their queue while none is idle and size = limit. Enders enter theirs until the
   pool is closed and size = 0. Both withdraw. [close] resumes all takers, and also all enders
   if size = 0.

   * linearises the operation. Tasks wait only while all resources are held. So no task
   overtakes them, because a resource that a holder gives back passes to the first of them. *)
type 'a grant = Idle of 'a | To_make

type 'a state = {
  settings : 'a settings;
  idle : 'a list;
  size : int;
  closed : bool;
  takers : (unit, 'a grant) Waiters.t;
  enders : (unit, unit) Waiters.t;
}

type 'a t = 'a state Atomic.t

let never _ = false

let create ?name ?(validate = fun _ -> true) ?(dispose = ignore)
    ?(keep_after = never) limit make =
  if limit < 1 then
    invalid_arg
      (Printf.sprintf "Pool.create: the limit is %d, but must be at least 1"
         limit);
  let settings = { limit; make; validate; dispose; keep_after } in
  Observer.made ~kind:"pool" ?name
    (Atomic.make
       {
         settings;
         idle = [];
         size = 0;
         closed = false;
         takers = Waiters.empty;
         enders = Waiters.empty;
       })

(* --- Steps ---------------------------------------------------------------- *)

let take_step () s : _ Step.t =
  if s.closed then Raise Closed
  else
    match s.idle with
    | v :: idle -> Return ({ s with idle }, Idle v)
    | [] when s.size < s.settings.limit ->
        Return ({ s with size = s.size + 1 }, To_make)
    | [] -> Wait

let pass grant s : _ Step.t =
  Step.to_first s.takers (Ok grant) { s with takers = Waiters.tail s.takers } ()

let give_step v s : _ Step.t =
  if Waiters.is_empty s.takers then Return ({ s with idle = v :: s.idle }, ())
  else pass (Idle v) s

let end_ s : _ Step.next = Step.resume_all s.enders (Ok ()) Step.finished

let gone_step () s : _ Step.t =
  if not (Waiters.is_empty s.takers) then pass To_make s
  else
    let size = s.size - 1 in
    if s.closed && size = 0 then
      Become ({ s with size; enders = Waiters.empty }, end_ s)
    else Return ({ s with size }, ())

let close_step () s : _ Step.t =
  if s.closed then Return (s, ())
  else
    let s' = { s with closed = true; takers = Waiters.empty } in
    if s.size > 0 then
      Become (s', Step.resume_all s.takers Errors.closed Step.finished)
    else (* no task waits to take *)
      Become ({ s' with enders = Waiters.empty }, end_ s)

let take_idle_step () s : _ Step.t =
  match s.idle with
  | v :: idle when s.closed -> Return ({ s with idle }, v)
  | _ -> Wait

let await_step () s : _ Step.t =
  if s.closed && s.size = 0 then Return (s, ()) else Wait

(* --- The waiters ---------------------------------------------------------- *)

let takers change w s = { s with takers = change s.takers w }
let enders change w s = { s with enders = change s.enders w }

let held t =
  let s = Atomic.get t in
  s.size - List.length s.idle

let shown t =
  let s = Atomic.get t in
  Printf.sprintf "%d in use of %d%s" (held t) s.settings.limit
    (if s.closed then ", closed" else "")

let operation = { Operation.default with state = shown; spin = Before }

let taking =
  {
    operation with
    name = "Pool.use";
    how =
      By_steps
        {
          word = Fun.id;
          step = take_step;
          queue = takers;
          left = Step.finished;
        };
  }

let awaiting =
  {
    operation with
    name = "Pool.await_closed";
    undo = Operation.undo_nothing;
    how =
      By_steps
        {
          word = Fun.id;
          step = await_step;
          queue = enders;
          left = Step.finished;
        };
  }

(* --- Disposing ------------------------------------------------------------

   Unbroken. A resource that a task holds is always in a variable of a function in which the
   next exception leads to [give_step] or [gone_step]. So none of these functions ends in a
   call. *)

(* When this returns or raises, [dispose v] has been called. *)
let rec dispose_of t v =
  match ref false with
  | exception e -> Sys.opaque_identity (dispose_then_raise t v e)
  | begun -> (
      match
        Suspend.protect (fun () ->
            begun := true;
            (Atomic.get t).settings.dispose v)
      with
      | () -> ()
      | exception e ->
          if !begun then
            Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())
          else Sys.opaque_identity (dispose_then_raise t v e))

and dispose_then_raise t v e =
  let backtrace = Printexc.get_raw_backtrace () in
  (match dispose_of t v with () -> () | exception _ -> ());
  Printexc.raise_with_backtrace e backtrace

let[@inline never] give_up_and_raise t e =
  let backtrace = Backtrace.get () in
  (match Step.surely t gone_step () with () -> () | exception _ -> ());
  Printexc.raise_with_backtrace e backtrace

let[@inline never] discard t v =
  match dispose_of t v with
  | () ->
      Step.surely t gone_step ();
      ()
  | exception e -> Sys.opaque_identity (give_up_and_raise t e)

let dispose_of_one t =
  match Step.attempt t take_idle_step () with
  | None -> false
  | Some v ->
      discard t v;
      true

(* Disposes of all idle resources, whatever is raised, and then raises the first exception. *)
let rec dispose_of_idle t =
  match dispose_of_one t with
  | false -> ()
  | true -> Sys.opaque_identity (dispose_of_idle t)
  | exception e -> Sys.opaque_identity (dispose_of_idle_then_raise t e)

and dispose_of_idle_then_raise t e =
  let backtrace = Printexc.get_raw_backtrace () in
  (match dispose_of_idle t with () -> () | exception _ -> ());
  Printexc.raise_with_backtrace e backtrace

(* --- Using ---------------------------------------------------------------- *)

let[@inline] dispose_if_closed t =
  if (Atomic.get t).closed then Sys.opaque_identity (dispose_of_idle t)

let[@inline never] give_back t v =
  match Step.surely t give_step v with
  | () -> dispose_if_closed t
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (match dispose_if_closed t with () -> () | exception _ -> ());
      Printexc.raise_with_backtrace e backtrace

(* Gives back the resource after [f] raised [e]. The caller raises [e], so other exceptions are
   dropped here. *)
let[@inline never] give_back_after t v e =
  match
    match (Atomic.get t).settings.keep_after e with
    | true -> give_back t v
    | false | (exception _) -> discard t v
  with
  | () -> ()
  | exception _ -> ()

let[@inline never] make t =
  match (Atomic.get t).settings.make () with
  | v -> v
  | exception e -> Sys.opaque_identity (give_up_and_raise t e)

let[@inline never] remake t v =
  match dispose_of t v with
  | () -> Sys.opaque_identity (make t)
  | exception e -> Sys.opaque_identity (give_up_and_raise t e)

let[@inline never] resource t = function
  | To_make -> Sys.opaque_identity (make t)
  | Idle v -> (
      match (Atomic.get t).settings.validate v with
      | true -> v
      | false -> Sys.opaque_identity (remake t v)
      | exception e ->
          let backtrace = Backtrace.get () in
          (match discard t v with () -> () | exception _ -> ());
          Printexc.raise_with_backtrace e backtrace)

let[@inline] obtain t =
  let grant =
    match Step.attempt t take_step () with
    | Some grant -> grant
    | None -> Operation.wait taking t ()
  in
  resource t grant

let[@inline] lend t f v =
  match f v with
  | result ->
      give_back t v;
      result
  | exception e ->
      let backtrace = Backtrace.get () in
      give_back_after t v e;
      Printexc.raise_with_backtrace e backtrace

let use t f =
  let v = obtain t in
  lend t f v

let use_evt t f =
  let finish grant =
    let v = resource t grant in
    lend t f v
  in
  Event.make_by (Finish finish) taking t ()

(* --- Closing -------------------------------------------------------------- *)

let close t =
  match Step.surely t close_step () with
  | () -> Sys.opaque_identity (dispose_of_idle t)
  | exception e -> Sys.opaque_identity (dispose_of_idle_then_raise t e)

let await_closed t =
  match Step.attempt t await_step () with
  | Some () -> ()
  | None -> Operation.wait awaiting t ()

let await_closed_evt t = Event.make awaiting t ()

(* --- Inspecting the pool -------------------------------------------------- *)

let is_closed t = (Atomic.get t).closed
let capacity t = (Atomic.get t).settings.limit
let size t = (Atomic.get t).size
let idle t = List.length (Atomic.get t).idle
let in_use = held

let waiters t =
  let s = Atomic.get t in
  Waiters.length s.takers + Waiters.length s.enders
