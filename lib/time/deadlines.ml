module Key = struct
  type t = { deadline : int; number : int  (** No two are equal. *) }

  let compare a b =
    match Int.compare a.deadline b.deadline with
    | 0 -> Int.compare a.number b.number
    | order -> order
end

module Actions = Map.Make (Key)

type key = Key.t

(* [is_woken] changes once, to [true], when a thread has woken the sleeper from this sleep. A
   thread that sees it late wakes the sleeper once more. *)
type 'wake asleep = {
  wake : 'wake;
  sleeps_until : int;
  mutable is_woken : bool;
}

type 'wake sleeper = Nobody | Awake | Asleep of 'wake asleep

(* [t], the only Atomic here; the states of [sleeper]

   State       Left by        To         By whom
   Nobody      add            Awake      any thread; it starts the sleeper
               start_sleeper  Awake      any thread; it starts the sleeper
   Awake       fall_asleep    Asleep a   the sleeper
               start_failed   Nobody     the thread that could not start the sleeper
   Asleep a    fall_asleep    Asleep a'  the sleeper
   *           add            Awake      a child process; it starts the sleeper
               start_sleeper  Awake      a child process; it starts the sleeper

   In each state [actions] grows by [add], and shrinks by [cancel] and by
   [run_due], which calls the action afterwards: the compare-and-set that removes
   the action decides who calls it.

   [until] is when the sleeper must look again. It is not after the first deadline. Debt: as
   long as it is before [sleeps_until], whoever adds an action wakes the sleeper, unless
   that [is_woken]. So a signal handler that raises before one has done so leaves that to
   the next; only its own action, which nobody waits for any more, is late. Cancelling does
   not move [until]; setting and cancelling in a loop therefore wakes the sleeper once per
   timeout length, not each time. *)
type 'wake state = {
  actions : (unit -> unit) Actions.t;
  sleeper : 'wake sleeper;
  until : int;
  next : int;  (** The number of the next key. *)
  process : int;  (** The process that has the sleeper. *)
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

(* A child process has the state of its parent, but not the sleeper. *)
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
  else (* another action came or went *) add t ~process ~deadline action

let woken asleep = asleep.is_woken <- true

let rec cancel t key =
  let before = Atomic.get t in
  let actions = Actions.remove key before.actions in
  if
    actions != before.actions
    && not (Atomic.compare_and_set t before { before with actions })
  then (* another action came or went *) cancel t key

(* --- Calling -------------------------------------------------------------- *)

let rec run_due t ~now =
  let before = Atomic.get t in
  if before.until < never (* else there is nothing *) then
    match Actions.min_binding_opt before.actions with
    | Some (key, action) when key.deadline <= now () ->
        let after =
          { before with actions = Actions.remove key before.actions }
        in
        let is_mine = ref false in
        begin match
          is_mine := Atomic.compare_and_set t before after;
          if !is_mine then action ()
          else (* another action came or went, or this one *) ()
        with
        | () -> ()
        | exception e ->
            (* a signal handler's: whoever waits for the action must not miss it *)
            let backtrace = Printexc.get_raw_backtrace () in
            if !is_mine then action ();
            Printexc.raise_with_backtrace e backtrace
        end;
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
    else (* an action came or went *) None

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
      (* an action came or went *)
      start_sleeper t ~process
  | Awake | Asleep _ -> false

let rec start_failed t key =
  let before = Atomic.get t in
  let remove key = Actions.remove key before.actions in
  let actions = Option.fold key ~none:before.actions ~some:remove in
  let after = { before with actions; sleeper = Nobody } in
  if not (Atomic.compare_and_set t before after) then
    (* another action came or went *) start_failed t key

let length t = Actions.cardinal (Atomic.get t).actions
let is_empty t = Actions.is_empty (Atomic.get t).actions

let check t =
  let { actions; until; next; _ } = Atomic.get t in
  if until > first actions then failwith "the sleeper sleeps for too long";
  if not (Actions.for_all (fun key _ -> key.number < next) actions) then
    failwith "two keys may become equal"
