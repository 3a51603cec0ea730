module Inbox = Concord.Tools.Host_kit.Inbox
module Spin = Concord.Tools.Host_kit.Spin
module Turn = Concord.Tools.Host_kit.Turn
module Strict = Concord.Private.Strict

let name = "lwt"
let this_thread () = Thread.id (Thread.self ())

(* --- The thread that owns Lwt's state --------------------------------------- *)

(* [owner], the thread that may touch Lwt's state

   State    Left by       To       By whom
   Nobody   enter         Used t   the thread t
            run           Run t    the thread t
            a loop        Used t   the thread that runs it, at the start of a turn
   Used t   enter         Used t'  another thread, while no loop of Lwt runs
            run           Run t'   any thread
            a loop        Used t'  as above
   Run t    end of run    Nobody   t
            a loop        Used t'  as above. This loop isn't that of [run], which will fail

   Lwt has no hook for the end of its loop. So if a thread has used Lwt, and has left the loop or
   never ran it, the state stays [Used] until another thread comes. *)
type owner = Nobody | Used of int | Run of int

let owner = Atomic.make Nobody

let is_running () =
  match Atomic.get owner with
  | Run thread -> thread = this_thread ()
  | Nobody | Used _ -> false

let is_owner () =
  match Atomic.get owner with
  | Run thread | Used thread -> thread = this_thread ()
  | Nobody -> false

(* While a loop runs, Lwt refuses this second one by [Failure]. Otherwise this one ends at
   once. *)
let a_loop_runs () =
  match Lwt_main.run Lwt.return_unit with
  | () -> false
  | exception Failure _ -> true

let rec enter () =
  let me = this_thread () in
  match Atomic.get owner with
  | (Used thread | Run thread) when thread = me -> ()
  | Run _ -> refuse ()
  | Used _ when a_loop_runs () -> refuse ()
  | (Nobody | Used _) as before ->
      if not (Atomic.compare_and_set owner before (Used me)) then
        (* Another thread was faster, or a loop has begun a turn. *)
        enter ()

(* A task of [Lwt_direct] runs in the loop's thread. But in the loop's very first turn it may
   run in a hook before [start_of_turn], which sets the owner. So it yields, and then tries
   again. *)
and refuse () =
  match Lwt_direct.yield () with
  | () -> enter ()
  | exception Effect.Unhandled _ ->
      invalid_arg
        "Concord_lwt: another thread runs Lwt's loop. Use the direct-style \
         operation in this one (Concord.Mvar.take for Concord_lwt.Mvar.take)"

(* --- The thread that is in a turn ------------------------------------------ *)

(* [turn_of]

   State    Left by         To       By whom
   nobody   start_of_turn   t        the thread t, at the start of a turn of Lwt's loop
   t        end_turn_of     nobody   t, at the end of the turn
            start_of_turn   t'       the thread t', after an exception has ended the loop
                                     of t in the middle of a turn
            is_in_turn      nobody   t, when it finds that this has happened

   Lwt calls code only in a turn. [turn_of] needs no atomic, because a thread asks only about
   itself. So it need not see in time what another thread writes, and an integer is never torn.

   [is_last] belongs to the turn of [turn_of], and only that thread uses it. It is [true] if
   [exit] was called in this turn, and now calls the functions of [at_exit]. Another turn can
   begin after that in two cases. A task of [Lwt_direct] called [exit], and waits in such a
   function. Or the turn is in the loop of [Lwt_main.at_exit]. *)
let nobody = -1
let turn_of = ref nobody
let is_last = ref false

let end_turn_of () =
  turn_of := nobody;
  is_last := false

(* [exit] calls the functions of [Domain.at_exit] before those of [at_exit], so these find
   [is_last] set. *)
let watch_exit =
  Domain.DLS.new_key @@ fun () ->
  Domain.at_exit (fun () -> if !turn_of = this_thread () then is_last := true)

(* [a_loop_runs] would disturb another thread that starts a loop at this moment. So it is
   called only if the calling thread was seen to begin a turn. It raises [Sys_error] in a
   callback from C on top of Lwt's own critical section, and then a loop runs. *)
let is_in_turn () =
  !turn_of = this_thread ()
  && ((match a_loop_runs () with runs -> runs | exception Sys_error _ -> true)
     || begin
       end_turn_of ();
       false
     end)

let is_over () = !is_last && !turn_of = this_thread ()

(* The tasks of [Lwt_direct] run in a hook, after [start_of_turn] and before the loop waits for
   the kernel. If such a task resolves the last promise, nothing else would end that wait. So
   the loop must know that a task ran. A task sets Lwt's storage, which removes the mark from
   it. If a promise is paused, the loop doesn't wait, and needs no mark. *)
let no_task_ran : unit Lwt.key = Lwt.new_key ()
let is_marked = ref false

let mark () =
  is_marked := Lwt.paused_count () = 0;
  if !is_marked then Lwt_direct.Storage.set no_task_ran ()

let tasks_ran () =
  !is_marked
  && begin
    let ran = Option.is_none (Lwt.get no_task_ran) in
    Lwt_direct.Storage.remove no_task_ran;
    ran
  end

let start_of_turn () =
  let me = this_thread () in
  Domain.DLS.get watch_exit;
  turn_of := me;
  is_last := false;
  mark ();
  Jobs.reopen ();
  match Atomic.get owner with
  | (Used thread | Run thread) when thread = me -> ()
  | Nobody | Used _ | Run _ -> Atomic.set owner (Used me)

(* Unbroken, because otherwise no loop can run again. So it does not end in a call. *)
let rec release mine =
  match
    if Atomic.get owner == mine then begin
      Jobs.close ();
      ignore (Atomic.compare_and_set owner mine Nobody : bool)
    end
  with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Sys.opaque_identity (release mine);
      Printexc.raise_with_backtrace e backtrace

let become before mine =
  Atomic.compare_and_set owner before mine
  && begin
    Jobs.reopen ();
    true
  end

let rec run f =
  let refuse () =
    failwith "Concord_lwt.run: it runs already, and Lwt has only one loop"
  in
  match Atomic.get owner with
  | Run _ -> refuse ()
  | Used _ when a_loop_runs () -> refuse ()
  | (Nobody | Used _) as before -> (
      let mine = Run (this_thread ()) in
      match if become before mine then Some (f ()) else None with
      | Some v ->
          release mine;
          v
      | None ->
          (* Another thread was faster, or a loop has begun a turn. *)
          run f
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          release mine;
          Printexc.raise_with_backtrace e backtrace)

(* --- Waking --------------------------------------------------------------- *)

type wake =
  | Wake : 'a Lwt.t * 'a Lwt.u * ('a, exn) result -> wake
  | Ring  (** There are jobs. *)

let wakes : wake Inbox.t = Inbox.create ()

(* The notification only ends the loop's wait. *)
let notification = Lwt_unix.make_notification ignore
let notify () = Lwt_unix.send_notification notification

let resumer decision promise waker result =
  let message outcome = Wake (promise, waker, result outcome) in
  Inbox.resumer wakes ~wake:notify decision message

let ring () =
  match Inbox.post wakes Ring with
  | Refused | Posted -> ()
  | Posted_to_sleeper -> notify ()

let post job = Jobs.post ~ring job

(* A callback may raise, or it may call [exit], which runs another loop. Then [wake] is called
   again for the same message, and finds the promise resolved. A cancelled promise is resolved
   as well. *)
let wake = function
  | Ring -> ()
  | Wake (promise, waker, result) ->
      if Lwt.is_sleeping promise then Lwt.wakeup_result waker result

(* --- Turns ---------------------------------------------------------------- *)

(* How many operations may be performed at once before the clock is read. Other threads also
   perform operations that need not wait. If one of two writes to [at_once] is lost, only one
   operation more is performed. While [CONCORD_DEBUG] is [strict], each operation calls [turn]
   first. *)
let between_looks = if Strict.is_on then 0 else 100
let at_once = ref between_looks
let current = Turn.create ()

let begin_turn () =
  at_once := between_looks;
  Turn.begin_ current

let go_on () =
  at_once := between_looks;
  None

(* How many messages one turn serves. This is bounded, because the loop also has other work. *)
let max_wakes = 1_000

(* Serves at most [left] messages, until the turn is long enough. A message may resume a task
   that computes and then yields, which posts the next message. Returns how many more it might
   have served. *)
let rec serve left =
  if left > 0 && Inbox.serve wakes wake then
    if Turn.add_task current then 0 else serve (left - 1)
  else left

(* If the thread is not in a turn, Lwt's loop doesn't run the calling task, or not yet. So if that
   has another scheduler, perhaps nothing would ever resolve the promise. *)
let check_host () =
  if not (is_in_turn ()) then
    let { Concord.Private.Who.host; _ } = Concord.Private.Identify.waker () in
    if host <> "" && host <> name then
      invalid_arg
        (Printf.sprintf
           "Concord_lwt: called in a task of %s. Use the direct-style \
            operation there (Concord.Mvar.take for Concord_lwt.Mvar.take)"
           host)

let turn () =
  if Turn.is_long current then
    match enter () with
    | () -> Some (Lwt.pause ())
    | exception Invalid_argument _ ->
        (* Another thread runs Lwt's loop. *)
        go_on ()
  else go_on ()

(* --- Sleeping ------------------------------------------------------------- *)

(* Most of the time of a message between two domains goes into waking a loop that sleeps. So
   the loop spins before it sleeps. *)
let spins = Spin.create ()
let is_posted () = not (Inbox.is_empty wakes)

(* [true] if a message has come from elsewhere, and the loop has not spun in vain since. Whoever
   has sent it may soon send the next, for example the answer to a task's next question, or
   another job.

   While a job runs, the loop doesn't spin. The job waits for the kernel, or for a thread of
   this domain, from which the loop would take the domain's lock again and again. *)
let expects_message = ref false

let spin () =
  Lwt.paused_count () = 0
  && !expects_message && Jobs.none_runs ()
  &&
  let gained = Spin.until spins is_posted in
  if not gained then expects_message := false;
  gained

let max_spins = 64

(* After jobs have begun, the loop doesn't spin again in this turn, so that their work runs
   first. *)
let rec serve_and_spin left spins =
  let left = serve left in
  if Jobs.serve () then left - 1
  else if left > 0 && spins > 0 && spin () then serve_and_spin left (spins - 1)
  else left

(* The functions that were called may have made work for others. For example, they may have
   resumed tasks of [Lwt_direct], whose hook has run already in this turn. Then the loop must
   not wait. *)
let before_waiting () =
  let tasks_ran = tasks_ran () in
  let something = serve_and_spin max_wakes max_spins < max_wakes in
  let something = tasks_ran || something in
  begin_turn ();
  if Lwt.paused_count () = 0 && (something || not (Inbox.fall_asleep wakes))
  then ignore (Lwt.pause () : unit Lwt.t)

(* The loop's own tasks post nothing while it sleeps. *)
let after_waiting () =
  Inbox.wake_up wakes;
  if is_posted () then expects_message := true;
  ignore (serve max_wakes : int);
  ignore (Jobs.serve () : bool)

(* The tasks of [Lwt_direct] run in hooks. It adds them in front of all others when its first
   task is made, so a task is made here. These hooks must be between ours, so that its tasks
   run in a turn. If they wake a task at the end of a turn, that is served there, and the task
   continues at the start of the next turn. *)
let () =
  ignore (Lwt_main.Leave_iter_hooks.add_first after_waiting);
  Lwt_direct.spawn_in_the_background ignore;
  ignore (Lwt_main.Enter_iter_hooks.add_first start_of_turn);
  ignore (Lwt_main.Enter_iter_hooks.add_last before_waiting);
  ignore (Lwt_main.Leave_iter_hooks.add_last end_turn_of)
