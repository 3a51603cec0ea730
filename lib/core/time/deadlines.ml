module Key = struct
  type t = { deadline : int; number : int  (** It is different in each key. *) }

  let compare a b =
    match Int.compare a.deadline b.deadline with
    | 0 -> Int.compare a.number b.number
    | order -> order
end

module Actions = Map.Make (Key)

type key = Key.t

(* [is_woken] changes once, to [true], when a thread has woken the sleeper from this sleep. If
   another thread sees the change late, it wakes the sleeper once more, which is harmless. *)
type 'wake asleep = {
  wake : 'wake;
  sleeps_until : int;
  mutable is_woken : bool;
}

type 'wake sleeper = Nobody | Awake | Asleep of 'wake asleep

(* The states of [sleeper] in [t], which is the only Atomic here

   State       Left by        To         By whom
   Nobody      add            Awake      any thread, which then starts the sleeper
               start_sleeper  Awake      any thread, which then starts the sleeper
   Awake       fall_asleep    Asleep a   the sleeper
               start_failed   Nobody     the thread that could not start the sleeper
   Asleep a    fall_asleep    Asleep a'  the sleeper
   any state   add            Awake      a child process, which then starts the sleeper
               start_sleeper  Awake      a child process, which then starts the sleeper

   In each state, [add] adds to [actions], and [cancel] and [run_due] remove from it. [run_due]
   calls the action after it has removed it. The compare-and-set that removes an action decides
   which thread calls it.

   [until] is the time when the sleeper has to check again. It is never after the first
   deadline. If [until] is before [sleeps_until], the sleeper would wake too late. Then each
   thread that adds an action has to wake it, until one of them has set [is_woken]. If a signal
   handler raises before a thread has done so, the next thread that adds an action does it
   instead. Meanwhile only the first thread's own action is late, and that thread no longer
   waits for it.

   Cancelling doesn't change [until]. So if a program sets and cancels timeouts in a loop, the
   sleeper is woken once per timeout length, and not each time. *)
type 'wake state = {
  actions : (unit -> unit) Actions.t;
  sleeper : 'wake sleeper;
  until : int;
  next : int;  (** The number of the next key. *)
  process : int;  (** The process whose thread is the sleeper. *)
}

type 'wake t = 'wake state Atomic.t

let never = max_int

let create () =
  Atomic.make
    {
      actions = Actions.empty;
      sleeper = Nobody;
      until = never;
      next = 0;
      process = 0;
    }

let first actions =
  match Actions.min_binding_opt actions with
  | Some (key, _) -> key.Key.deadline
  | None -> never

(* A child process has a copy of its parent's state, but doesn't have the sleeper. *)
let sleeper state ~process =
  if state.process = process then state.sleeper else Nobody

(* --- Adding and cancelling ------------------------------------------------ *)

let rec add t ~process ~deadline action =
  let before = Atomic.get t in
  let sleeper = sleeper before ~process
  and until = Int.min deadline before.until in
  let owed =
    match sleeper with
    | Asleep { sleeps_until; is_woken; _ }
      when until >= sleeps_until || is_woken ->
        Awake
    | Nobody | Awake | Asleep _ -> sleeper
  in
  let key = Key.{ deadline; number = before.next } in
  let after =
    {
      actions = Actions.add key action before.actions;
      sleeper =
        (match sleeper with Nobody -> Awake | Awake | Asleep _ -> sleeper);
      until;
      next = before.next + 1;
      process;
    }
  in
  if Atomic.compare_and_set t before after then (key, owed)
  else (* another action was added or removed *) add t ~process ~deadline action

let woken asleep = asleep.is_woken <- true

let rec cancel t key =
  let before = Atomic.get t in
  let actions = Actions.remove key before.actions in
  if
    actions != before.actions
    && not (Atomic.compare_and_set t before { before with actions })
  then (* another action was added or removed *) cancel t key

(* --- Calling -------------------------------------------------------------- *)

(* Unbroken, because the action is out of [t], and another task may wait for it. After 16
   exceptions the action itself must be the cause. *)
let rec call tries action =
  match action () with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if tries > 0 then call (tries - 1) action;
      Printexc.raise_with_backtrace e backtrace

let rec run_due t ~now =
  let before = Atomic.get t in
  if before.until < never (* otherwise [t] has no action *) then
    match Actions.min_binding_opt before.actions with
    | Some (key, action) when key.deadline <= now () ->
        let after =
          { before with actions = Actions.remove key before.actions }
        in
        (* Otherwise another action was added or removed, or another thread calls this one. *)
        if Atomic.compare_and_set t before after then call 16 action;
        run_due t ~now
    | Some _ | None -> ()

let may_be_due t ~now = (Atomic.get t).until <= now

(* --- The sleeper ---------------------------------------------------------- *)

let fall_asleep t ~now wake =
  let before = Atomic.get t in
  let until =
    if before.until > now then before.until else first before.actions
  in
  if until <= now then None
  else
    let sleeper = Asleep { wake; sleeps_until = until; is_woken = false } in
    let after = { before with sleeper; until } in
    if Atomic.compare_and_set t before after then Some until
    else (* an action was added or removed *) None

let lacks_sleeper t ~process =
  match sleeper (Atomic.get t) ~process with
  | Nobody -> true
  | Awake | Asleep _ -> false

let rec start_sleeper t ~process =
  let before = Atomic.get t in
  match sleeper before ~process with
  | Nobody ->
      let after = { before with sleeper = Awake; process } in
      Atomic.compare_and_set t before after
      ||
      (* an action was added or removed *)
      start_sleeper t ~process
  | Awake | Asleep _ -> false

let start_failed t key =
  Atomically.update t (fun before ->
      let remove key = Actions.remove key before.actions in
      let actions = Option.fold key ~none:before.actions ~some:remove in
      { before with actions; sleeper = Nobody })

let length t = Actions.cardinal (Atomic.get t).actions
let is_empty t = Actions.is_empty (Atomic.get t).actions

let check t =
  let { actions; until; next; _ } = Atomic.get t in
  if until > first actions then failwith "the sleeper sleeps for too long";
  if not (Actions.for_all (fun key _ -> key.number < next) actions) then
    failwith "two keys may become equal"
