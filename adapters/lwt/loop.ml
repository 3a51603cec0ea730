module Inbox = Concord.Tools.Host_kit.Inbox
module Spin = Concord.Tools.Host_kit.Spin
module Strict = Concord.Private.Strict

let name = "lwt"
let this_thread () = Thread.id (Thread.self ())

(* --- Whose it is ---------------------------------------------------------- *)

(* [owner], the thread that may touch Lwt's state

   State    Left by       To       By whom
   Nobody   enter, run    Used t   the thread t, and in [run] Run t
   Used t   enter         Used t'  another thread, while no loop of Lwt runs
            run           Run t'   any thread
            a loop        Used t'  the thread that runs it, at the start of a turn
   Run t    end of run    Nobody   t
            a loop        Used t'  as above: then it is not [run]'s, which will fail

   Lwt has no hook for the end of its loop. So a thread that has used Lwt, and has left
   the loop or never ran it, stays [Used] until another thread comes. *)
type owner = Nobody | Used of int | Run of int

let owner = Atomic.make Nobody

let is_running () =
  match Atomic.get owner with
  | Run thread -> thread = this_thread ()
  | Nobody | Used _ -> false

(* Lwt refuses a second loop; this one would end at once. *)
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
        (* another thread, or a loop has begun a turn *)
        enter ()

(* A task of [Lwt_direct] is run by the loop; but perhaps in its very first turn, by a
   hook that comes before [start_of_turn]. *)
and refuse () =
  match Lwt_direct.yield () with
  | () -> enter ()
  | exception Effect.Unhandled _ ->
      invalid_arg
        "Concord_lwt: another thread runs Lwt's loop; in this one use the \
         direct-style operation (Concord.Mvar.take for Concord_lwt.Mvar.take)"

(* --- The thread that is in a turn ------------------------------------------ *)

(* [turn_of]

   State    Left by         To       By whom
   nobody   start_of_turn   t        the thread t, at the start of a turn of Lwt's loop
   t        end_turn_of     nobody   t, at the end of the turn
            start_of_turn   t'       the thread t', after an exception has ended the loop
                                     of t in the middle of a turn
            is_in_turn      nobody   t, which finds that this has happened

   Lwt calls code only in a turn. No atomic: a thread asks about itself only, so it need
   not see in time what another one writes; and an integer is not torn.

   [is_last] is about the turn of [turn_of], and touched by that thread only: [exit] was
   called in it, and now calls the functions of [at_exit]. A turn begins after it only if
   a task of [Lwt_direct] has exited, and waits in such a function; or in the loop of
   [Lwt_main.at_exit]. *)
let nobody = -1
let turn_of = ref nobody
let is_last = ref false

let end_turn_of () =
  turn_of := nobody;
  is_last := false

(* [exit] calls the functions of [Domain.at_exit] before those of [at_exit]. *)
let watch_exit =
  Domain.DLS.new_key @@ fun () ->
  Domain.at_exit (fun () -> if !turn_of = this_thread () then is_last := true)

(* [a_loop_runs] would disturb another thread that starts a loop at this moment. So it is
   asked only where the calling thread was seen to begin a turn. [Sys_error]: a signal
   handler in Lwt's own critical section. *)
let is_in_turn () =
  !turn_of = this_thread ()
  && ((match a_loop_runs () with runs -> runs | exception Sys_error _ -> true)
     || begin
       end_turn_of ();
       false
     end)

let is_over () = !is_last && !turn_of = this_thread ()

(* The tasks of [Lwt_direct] run in a hook, after [start_of_turn] and before the loop waits
   for the kernel. If one ends the last promise, nothing else ends that wait. A task sets
   Lwt's storage, and so takes the mark out of it. If a promise is paused then the loop
   does not wait, and no mark is needed. *)
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

let rec run f =
  let refuse () =
    failwith "Concord_lwt.run: it runs already, and Lwt has one loop only"
  in
  match Atomic.get owner with
  | Run _ -> refuse ()
  | Used _ when a_loop_runs () -> refuse ()
  | (Nobody | Used _) as before ->
      let mine = Run (this_thread ()) in
      if Atomic.compare_and_set owner before mine then begin
        Jobs.reopen ();
        Fun.protect f ~finally:(fun () ->
            if Atomic.get owner == mine then Jobs.close ();
            ignore (Atomic.compare_and_set owner mine Nobody : bool))
      end
      else (* another thread, or a loop has begun a turn *) run f

(* --- Waking --------------------------------------------------------------- *)

type wake =
  | Wake : 'a Lwt.t * 'a Lwt.u * ('a, exn) result -> wake
  | Ring  (** Look at the jobs. *)

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

(* How many waits have begun and were not ended otherwise: a wake ends each. *)
let waits = ref 0
let begin_wait () = incr waits
let end_wait () = decr waits

(* A callback may raise, or exit, which runs another loop. Then [wake] is called again,
   and finds the promise resolved; so it does if the promise was cancelled. *)
let wake = function
  | Ring -> (* it ends no wait *) begin_wait ()
  | Wake (promise, waker, result) ->
      if Lwt.is_sleeping promise then Lwt.wakeup_result waker result

(* Serves at most [left] messages. Returns how many more it might have served. *)
let rec serve left =
  if left > 0 && Inbox.serve wakes wake then serve (left - 1) else left

(* How many messages one turn serves: the loop has other things to do as well. *)
let max_wakes = 1_000
let tasks_wait () = !waits > Inbox.served wakes

(* --- Turns ---------------------------------------------------------------- *)

(* How many operations may be done at once before the clock is read, and how long a turn
   may be, in nanoseconds, if there are so many. Operations that need not wait are called by
   other threads too: if one of two writes is lost, one more operation is done. While
   [CONCORD_DEBUG] is [strict], each operation asks [turn] before. *)
let between_looks = if Strict.is_on then 0 else 100
let longest_turn = 10_000_000
let at_once = ref between_looks

(* When the turn will have been long enough, in nanoseconds; or 0, if the clock has not
   been read in it yet. *)
let turn_ends = ref 0

let begin_turn () =
  at_once := between_looks;
  turn_ends := 0

let is_long_enough () =
  let now = Int64.to_int (Mtime_clock.now_ns ()) in
  if !turn_ends = 0 then turn_ends := now + longest_turn;
  now >= !turn_ends

let go_on () =
  at_once := between_looks;
  None

(* A loop that another scheduler's task would run has not begun, or is over. *)
let check_host () =
  if not (is_in_turn ()) then
    let { Concord.Private.Who.host; _ } = Concord.Private.Identify.waker () in
    if host <> "" && host <> name then
      invalid_arg
        (Printf.sprintf
           "Concord_lwt: called in a task of %s; there use the direct-style \
            operation (Concord.Mvar.take for Concord_lwt.Mvar.take)"
           host)

let turn () =
  if Strict.is_on then check_host ();
  if is_long_enough () then
    match enter () with
    | () -> Some (Lwt.pause ())
    | exception Invalid_argument _ -> (* not Lwt's thread *) go_on ()
  else go_on ()

(* --- Sleeping ------------------------------------------------------------- *)

(* Most of the time of a message between two domains goes into waking a loop that sleeps:
   so look before sleeping. *)
let spins = Spin.create ()
let is_posted () = not (Inbox.is_empty wakes)

(* Was a job served, since when the loop has not spun in vain? A task in a library of promises
   is counted when it waits, but nobody waits in the loop for jobs: who has posted one, and has
   its result, may post the next. *)
let expects_job = ref false

let serve_jobs () =
  let served = Jobs.serve () in
  if served then expects_job := true;
  served

let spin () =
  Lwt.paused_count () = 0
  && (tasks_wait () || !expects_job)
  &&
  let gained = Spin.until spins is_posted in
  if not gained then expects_job := false;
  gained

let max_spins = 64

(* What a job has begun has its turn before the loop spins again. *)
let rec serve_and_spin left spins =
  let left = serve left in
  if serve_jobs () then left - 1
  else if left > 0 && spins > 0 && spin () then serve_and_spin left (spins - 1)
  else left

(* What was called may have made work for others, [Lwt_direct] for one, whose hook
   has had its turn: then the loop must not wait. *)
let before_waiting () =
  let tasks_ran = tasks_ran () in
  let something = serve_and_spin max_wakes max_spins < max_wakes in
  let something = tasks_ran || something in
  begin_turn ();
  if Lwt.paused_count () = 0 && (something || not (Inbox.fall_asleep wakes))
  then ignore (Lwt.pause () : unit Lwt.t)

let after_waiting () =
  Inbox.wake_up wakes;
  ignore (serve max_wakes : int);
  ignore (serve_jobs () : bool)

(* The tasks of [Lwt_direct] run in hooks, which it adds in front of all others with the
   first task. These hooks are to be between ours, so that its tasks run in a turn. What
   they wake at the end of one is served there, and goes on at the start of the next. *)
let () =
  ignore (Lwt_main.Leave_iter_hooks.add_first after_waiting);
  Lwt_direct.spawn_in_the_background ignore;
  ignore (Lwt_main.Enter_iter_hooks.add_first start_of_turn);
  ignore (Lwt_main.Enter_iter_hooks.add_last before_waiting);
  ignore (Lwt_main.Leave_iter_hooks.add_last end_turn_of)
