(* [inbox]

   State    Left by         To               By whom
   Asleep   wake            Wake {w, Awake}  any thread; it then wakes the loop
            after the wait  Awake            the loop
   Awake    before waiting  Asleep           the loop
            wake            Wake {w, Awake}  any thread
   Wake ws  wake            Wake {w, ws}     any thread
            a round         Awake            the loop, to which [ws] are [due]

   Wakers are kept latest first. All but [Asleep] mean that the loop looks again
   before it waits for the kernel, so that nobody has to wake it. *)
type inbox =
  | Asleep
  | Awake
  | Wake : {
      waker : 'b Lwt.u;
      result : 'a -> 'b;
      outcome : ('a, exn) result;
      before : inbox;  (** not [Asleep] *)
    }
      -> inbox

let inbox = Atomic.make Asleep

(* How many tasks wait for others to wake them. *)
let waits = ref 0
let begin_wait () = incr waits
let end_wait () = decr waits

(* --- Waking them ---------------------------------------------------------- *)

let rec oldest_first after = function
  | Asleep | Awake -> after
  | Wake w -> oldest_first (Wake { w with before = after }) w.before

(* What a round has taken, oldest first, and not woken yet. A callback may not
   return: it may raise, or exit, which runs another loop. So it is kept here, for
   the next round. *)
let due = ref Awake

let rec wake_due () =
  match !due with
  | Asleep | Awake -> ()
  | Wake { waker; result; outcome; before } ->
      due := before;
      end_wait ();
      (match outcome with
      | Ok v -> Lwt.wakeup waker (result v)
      | Error e -> Lwt.wakeup_exn waker e);
      wake_due ()

let take () =
  match Atomic.exchange inbox Awake with
  | (Asleep | Awake | Wake { before = Asleep | Awake; _ }) as at_most_one ->
      at_most_one
  | Wake _ as latest_first -> oldest_first Awake latest_first

let round () =
  (match !due with Asleep | Awake -> due := take () | Wake _ -> ());
  match !due with
  | Asleep | Awake -> false
  | Wake _ ->
      wake_due ();
      true

(* The loop has other things to do as well. *)
let max_rounds = 64

let rec rounds n =
  n > 0 && round ()
  &&
  (ignore (rounds (n - 1) : bool);
   true)

(* --- Sleeping ------------------------------------------------------------- *)

(* As the loop of [Concord_fifo] does: most of the time between two domains goes
   into waking one that sleeps. *)
let max_spins = if Domain.recommended_domain_count () > 1 then 1000 else 0
let max_in_vain = 6
let in_vain = ref 0
let to_skip = ref 0

let is_empty () =
  match Atomic.get inbox with Asleep | Awake -> true | Wake _ -> false

let rec is_posted_within n =
  (not (is_empty ()))
  || n > 0
     && begin
       Domain.cpu_relax ();
       is_posted_within (n - 1)
     end

let spin () =
  if !waits = 0 || Lwt.paused_count () > 0 then false
  else if !to_skip > 0 then begin
    decr to_skip;
    false
  end
  else if is_posted_within max_spins then begin
    in_vain := 0;
    true
  end
  else begin
    in_vain := Int.min max_in_vain (!in_vain + 1);
    to_skip := (1 lsl !in_vain) - 1;
    false
  end

let rec spin_rounds n =
  n > 0
  && (round () || (spin () && round ()))
  && begin
    ignore (spin_rounds (n - 1) : bool);
    true
  end

(* What was called may have made work for others, [Lwt_direct] for one, whose hook
   has had its turn: then the loop must not wait. *)
let fall_asleep () =
  match Atomic.get inbox with
  | Asleep -> true
  | Awake -> Atomic.compare_and_set inbox Awake Asleep
  | Wake _ -> false

let before_waiting () =
  if spin_rounds max_rounds || not (fall_asleep ()) then
    ignore (Lwt.pause () : unit Lwt.t)

let after_waiting () = ignore (rounds max_rounds : bool)

(* --- Whose it is ---------------------------------------------------------- *)

let this_thread () = Thread.id (Thread.self ())
let nobody = -1
let owner = Atomic.make nobody

(* It only ends the wait. Made by Lwt's thread, before there is anything to post. *)
let notification = ref None

let set_up () =
  if Option.is_none !notification then begin
    notification := Some (Lwt_unix.make_notification ignore);
    ignore (Lwt_main.Enter_iter_hooks.add_last before_waiting);
    ignore (Lwt_main.Leave_iter_hooks.add_first after_waiting)
  end

let running = Atomic.make false
let is_running () = Atomic.get running && Atomic.get owner = this_thread ()

let run f =
  if not (Atomic.compare_and_set running false true) then
    failwith "Concord_lwt.run: it runs already, and Lwt has one loop only";
  Fun.protect
    ~finally:(fun () -> Atomic.set running false)
    (fun () ->
      Atomic.set owner (this_thread ());
      set_up ();
      f ())

let enter () =
  let thread = this_thread () in
  if Atomic.get owner <> thread then
    if Atomic.compare_and_set owner nobody thread then set_up ()
    else
      invalid_arg
        "Concord_lwt: the calling thread is not the one that runs Lwt; use the \
         direct-style operation there (Concord.Mvar.take for \
         Concord_lwt.Mvar.take)"

let rec wake waker result outcome =
  match Atomic.get inbox with
  | Asleep ->
      let after = Wake { waker; result; outcome; before = Awake } in
      if Atomic.compare_and_set inbox Asleep after then
        Option.iter Lwt_unix.send_notification !notification
      else (* another one, or the loop went on *) wake waker result outcome
  | (Awake | Wake _) as before ->
      let after = Wake { waker; result; outcome; before } in
      if not (Atomic.compare_and_set inbox before after) then
        (* another one, or the loop took them *) wake waker result outcome
