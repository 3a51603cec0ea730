open Plugin

let[@inline] exist () = some_takes_every_effect ()

(* The number of their loops that run in threads of this domain. A new domain starts with the
   number of the domain that spawned it, because such a scheduler spawns its domains from its
   loop. *)
let loops =
  Domain.DLS.new_key
    ~split_from_parent:(fun parent -> Atomic.make (Atomic.get parent))
    (fun () -> Atomic.make 0)

let may_be_around () = Atomic.get (Domain.DLS.get loops) > 0

let running plugin loop =
  if not plugin.takes_every_effect then loop ()
  else
    let loops = Domain.DLS.get loops in
    let leave () = ignore (Atomic.fetch_and_add loops (-1) : int) in
    ignore (Atomic.fetch_and_add loops 1 : int);
    Backtrace.finally loop ~finally:leave

let[@inline] outside ask = if exist () then None else ask ()

(* --- Schedulers that handle the effect, inside of a greedy one's task -------- *)

(* The scheduler that was registered last, by any thread of the domain. *)
type last = { of_thread : int; flag : Innermost.flag }

let this_thread () = Thread.id (Thread.self ())

let last =
  Domain.DLS.new_key (fun () ->
      ref { of_thread = -1; flag = { up = false; asked = false } })

let handling flag loop =
  if not (exist ()) then loop ()
  else begin
    let last = Domain.DLS.get last in
    let before = !last in
    last := { of_thread = this_thread (); flag };
    Backtrace.finally loop ~finally:(fun () ->
        flag.up <- false;
        last := before)
  end

let is_in_handler () =
  let { of_thread; flag } = !(Domain.DLS.get last) in
  flag.up && of_thread = this_thread ()

(* --- Where effects may go ---------------------------------------------------- *)

type innermost =
  | Handles
  | Has_plugin of Plugin.t
  | Has_trigger of Domain_local_await.t
  | Unregistered

(* The end of a scheduler can't be observed, so a note may be wrong here. *)
let innermost () =
  if is_in_handler () then Handles
  else begin
    Innermost.forget ();
    match Innermost.find () with
    | Noted plugin | Found plugin -> Has_plugin plugin
    | Trigger trigger when Plugin.is_handler trigger -> Handles
    | Trigger trigger -> Has_trigger trigger
    | Nobody -> Unregistered
  end

type way =
  | Perform
  | Plugins of Plugin.t list
  | Trigger of Domain_local_await.t

let way () =
  match innermost () with
  | Handles -> Perform
  | Has_plugin plugin when plugin.takes_every_effect || may_be_around () ->
      Plugins (plugin :: takers ())
  | Has_trigger trigger when may_be_around () -> Trigger trigger
  | Has_plugin _ | Has_trigger _ -> Perform
  | Unregistered -> Plugins (takers ())

(* --- Questions ---------------------------------------------------------------- *)

(* If no scheduler is registered, a greedy one that doesn't register itself may be around the
   caller. *)
let is_nobody_registered () =
  match Innermost.find () with
  | Nobody -> true
  | Noted _ | Found _ | Trigger _ -> false

let may_take_questions () =
  exist () && (may_be_around () || is_nobody_registered ())
