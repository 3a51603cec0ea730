exception Closed = Errors.Closed

(* A value that changes. A task waits until the version, which counts the changes, is no longer
   the one that it has seen. Tasks wait only while they have seen the present version, so each
   change resumes them all.

   [t], the only Atomic here

   State                       Left by   To                      By whom
   version = n, not closed     set     * version = n + 1, no     any task; it resumes all that
                                         task waits              waited
                               close   * closed, version = n,    any task; it resumes all that
                                         no task waits           waited
   closed                      never (terminal)

   In addition, waiters enter [waiters] while the state is not closed, and withdraw.

   * linearises the operation. A [changed] that doesn't wait linearises at its read of [t]. *)
type 'a state = {
  value : 'a;
  version : int;
  closed : bool;
  waiters : (int, 'a * int) Waiters.t;
}

type 'a t = 'a state Atomic.t
type version = int

let create ?name value =
  Observer.made ~kind:"watch" ?name
    (Atomic.make
       { value; version = 0; closed = false; waiters = Waiters.empty })

(* --- Steps ---------------------------------------------------------------- *)

let set_step value s : _ Step.t =
  if s.closed then Raise Closed
  else
    let version = s.version + 1 in
    let next = { s with value; version; waiters = Waiters.empty } in
    if Waiters.is_empty s.waiters then Return (next, ())
    else
      Become
        (next, Step.resume_all s.waiters (Ok (value, version)) Step.finished)

let close_step () s : _ Step.t =
  if s.closed then Return (s, ())
  else
    Become
      ( { s with closed = true; waiters = Waiters.empty },
        Step.resume_all s.waiters Errors.closed Step.finished )

let changed_step since s : _ Step.t =
  if s.version <> since then Return (s, (s.value, s.version))
  else if s.closed then Raise Closed
  else Wait

(* --- The waiters ---------------------------------------------------------- *)

let queue change w s = { s with waiters = change s.waiters w }

let waiting =
  {
    Operation.default with
    name = "Watch.changed";
    undo = Operation.undo_nothing;
    spin = Before;
    how =
      By_steps
        { word = Fun.id; step = changed_step; queue; left = Step.finished };
  }

(* --- Operations ----------------------------------------------------------- *)

let set t v = Step.perform t set_step v
let close t = Step.perform t close_step ()
let changed t ~since = Operation.perform waiting t since
let try_changed t ~since = Step.attempt t changed_step since
let changed_evt t ~since = Event.make waiting t since

let read t =
  let s = Atomic.get t in
  (s.value, s.version)

let get t = (Atomic.get t).value
let is_closed t = (Atomic.get t).closed
let waiters t = Waiters.length (Atomic.get t).waiters
