module By_fd = Multiplexer.By_fd
module Waiter = Concord.Tools.Structure_kit.Waiter

type direction = Read | Write
type wait = Wait : { waiter : ('x, 'a) Waiter.t; value : 'a } -> wait

let is_live (Wait { waiter; _ }) = Waiter.is_live waiter

type message =
  | Add of {
      owner : Owner.t;
      direction : direction;
      wait : wait;
      mutable refers : bool;
          (** [true] while the message has a reference to the owner. *)
    }
  | Withdrawn of Unix.file_descr
  | Forget of Owner.t
  | Wake

(* A descriptor for which tasks wait. *)
type slot = {
  owner : Owner.t;  (** The owner that the poller watches. *)
  mutable readers : wait list;  (** Latest first. *)
  mutable writers : wait list;
  mutable total : int;
  mutable withdrawn : int;
      (** At least the number of withdrawn waiters. It may be more, because a
          waiter that was resumed and withdrawn may be counted for a later slot
          of the same descriptor. *)
}

type t = {
  inbox : message Poller_inbox.t;
  watcher : Owner.watcher;
  mutable generation : int;  (** The process, see [Native]. *)
  mutable multiplexer : Multiplexer.t;
  mutable table : slot By_fd.t;
  mutable polls : bool;  (** [true] while the loop is in {!poll}. *)
  mutable stale : bool;
      (** [true] if all slots must be passed to the multiplexer again. *)
  mutable waiting : int;  (** The sum of all [total]. *)
  mutable woken : bool;
      (** [true] if the loop was woken since {!poll} last returned. *)
  mutable taken : message list;
      (** Messages that were taken from the inbox, latest first. *)
  due : message list ref;
      (** Messages to serve before those in [taken], oldest first. *)
  leaving : Owner.t list ref;
      (** Owners without a slot, which are watched until the system has let the
          file go. *)
  owed : (exn option * wait) list ref;  (** Waits to be resumed next. *)
}

(* A signal handler may raise anywhere, so an item stays in the list until [f] has returned.
   Calling [f] twice for an item does no harm. *)
let rec do_all list f =
  match !list with
  | [] -> ()
  | first :: rest ->
      f first;
      list := rest;
      do_all list f

(* --- Creation ------------------------------------------------------------- *)

let multiplexer () =
  let ring ~otherwise =
    match Ring.create () with Some ring -> ring | None -> otherwise ()
  in
  match (Asked.read ()).multiplexer with
  | Some Poll -> Poll_set.create ()
  | Some Io_uring ->
      ring ~otherwise:(fun () ->
          failwith
            "CONCORD_AIO=io_uring: this system has no io_uring, or uring was \
             not installed when concord-aio was built. Use CONCORD_AIO=poll")
  | None -> ring ~otherwise:(fun () -> Poll_set.create ())

let create () =
  let inbox = Poller_inbox.create () in
  let multiplexer =
    try multiplexer ()
    with (Unix.Unix_error _ | Failure _) as e ->
      Poller_inbox.close inbox;
      raise e
  in
  {
    inbox;
    watcher = { forget = (fun owner -> Poller_inbox.post inbox (Forget owner)) };
    generation = Native.generation ();
    multiplexer;
    table = By_fd.empty;
    polls = false;
    stale = true;
    waiting = 0;
    woken = false;
    taken = [];
    due = ref [];
    leaving = ref [];
    owed = ref [];
  }

(* Pollers that no loop serves now. *)
let spares : t list Atomic.t = Atomic.make []

let rec take () =
  match Atomic.get spares with
  | [] -> create ()
  | t :: rest as before ->
      if Atomic.compare_and_set spares before rest then t
      else
        (* Another loop began or ended. *)
        take ()

let give_back t = Concord.Private.Atomically.update_surely spares (List.cons t)

(* --- For any thread ------------------------------------------------------- *)

let post t message = Poller_inbox.post t.inbox message

let enlist t owner direction waiter value =
  post t
    (Add { owner; direction; wait = Wait { waiter; value }; refers = true })

(* While the system waits for a descriptor, it keeps the file open. The message makes the loop
   let it go now, because the user may close the descriptor next. *)
let count_withdrawn t fd = post t (Withdrawn fd)
let wake t = post t Wake
let waiting t = t.waiting

let adds_somebody = function
  | Add { wait; _ } -> is_live wait
  | Withdrawn _ | Forget _ | Wake -> false

let helpers t ~threads : Concord.Private.Helpers.t =
  match Poller_inbox.state t.inbox with
  | Asleep 0 -> { idle = threads; busy = 0 }
  | Asleep _ -> { idle = 0; busy = 0 }
  | Awake messages when List.exists adds_somebody messages ->
      { idle = 0; busy = 0 }
  | Awake _ -> { idle = 0; busy = threads }

(* --- Slots, for the loop alone -------------------------------------------- *)

let fd slot = Owner.descr slot.owner

let set t slot =
  t.multiplexer.set (fd slot)
    ~read:(not (List.is_empty slot.readers))
    ~write:(not (List.is_empty slot.writers))

let set_bell t =
  t.multiplexer.set (Poller_inbox.bell t.inbox) ~read:true ~write:false

(* When a signal handler raised, answers of the multiplexer may have been lost. So all slots are
   passed to it again. *)
let refresh t =
  let forget fd = t.multiplexer.set fd ~read:false ~write:false in
  forget (Poller_inbox.bell t.inbox);
  set_bell t;
  By_fd.iter
    (fun fd slot ->
      forget fd;
      set t slot)
    t.table;
  t.stale <- false

let resume error (Wait { waiter; value; _ }) =
  let outcome = match error with None -> Ok value | Some e -> Error e in
  ignore (Waiter.resume waiter outcome : bool)

let settle t slot =
  let total = List.length slot.readers + List.length slot.writers in
  t.waiting <- t.waiting - slot.total + total;
  slot.total <- total;
  slot.withdrawn <- 0;
  set t slot;
  if slot.total = 0 && By_fd.mem (fd slot) t.table then begin
    t.leaving := slot.owner :: !(t.leaving);
    t.table <- By_fd.remove (fd slot) t.table
  end

(* [None] if there is no slot, or if the number has another owner now. *)
let slot_of t owner =
  match By_fd.find_opt (Owner.descr owner) t.table with
  | Some slot as found when slot.owner == owner -> found
  | Some _ | None -> None

(* If the loop was the last user of a descriptor, this closes it. If tasks wait for it again,
   the loop still watches it. *)
let leave t =
  do_all t.leaving (fun owner ->
      if Option.is_none (slot_of t owner) then Owner.unwatch owner t.watcher)

let leave_settled t =
  if not (List.is_empty !(t.leaving)) then begin
    t.multiplexer.settle ();
    leave t
  end

let pay t = do_all t.owed (fun (error, wait) -> resume error wait)

(* Resumes the waiters in the order in which they came. *)
let answer t slot ~readers ~writers error =
  let owe waits others =
    List.fold_left (fun owed wait -> (error, wait) :: owed) others waits
  in
  let owed = if writers then owe slot.writers [] else [] in
  t.owed := if readers then owe slot.readers owed else owed;
  if readers then slot.readers <- [];
  if writers then slot.writers <- [];
  settle t slot;
  (* The loop leaves the owner first, so that a resumed task can close the descriptor at once. *)
  if t.multiplexer.is_settled () then leave t;
  pay t

let bad_descriptor = Unix.Unix_error (EBADF, "poll", "")

let forget t slot =
  answer t slot ~readers:true ~writers:true (Some bad_descriptor)

(* [None] if the owner is closing. If a slot has another owner, that one has lost the number,
   so the slot is forgotten. *)
let rec watched_slot t owner =
  match By_fd.find_opt (Owner.descr owner) t.table with
  | Some slot when slot.owner == owner -> Some slot
  | Some other ->
      forget t other;
      watched_slot t owner
  | None when Owner.watch owner t.watcher ->
      let slot =
        { owner; readers = []; writers = []; total = 0; withdrawn = 0 }
      in
      t.table <- By_fd.add (fd slot) slot t.table;
      Some slot
  | None -> None

let add t owner direction wait =
  match watched_slot t owner with
  | None -> resume (Some bad_descriptor) wait
  | Some slot ->
      begin match direction with
      | Read -> slot.readers <- wait :: slot.readers
      | Write -> slot.writers <- wait :: slot.writers
      end;
      slot.total <- slot.total + 1;
      t.waiting <- t.waiting + 1;
      set t slot

let serve t = function
  | Wake -> t.woken <- true
  | Add ({ owner; direction; wait; _ } as message) ->
      if is_live wait then add t owner direction wait;
      if message.refers then begin
        message.refers <- false;
        Owner.leave owner
      end
  | Withdrawn fd -> (
      match By_fd.find_opt fd t.table with
      | None ->
          (* The waiter was resumed meanwhile. *)
          ()
      | Some slot ->
          slot.withdrawn <- slot.withdrawn + 1;
          if 2 * slot.withdrawn > slot.total then begin
            slot.readers <- List.filter is_live slot.readers;
            slot.writers <- List.filter is_live slot.writers;
            settle t slot
          end)
  | Forget owner -> (
      match slot_of t owner with
      | Some slot -> forget t slot
      | None -> t.leaving := owner :: !(t.leaving))

(* There is no polling point between the writes of two fields, or between taking the inbox and
   storing its messages in a field. A signal handler that raised there would lose messages, or
   make the loop serve them twice. *)

let serve_taken t =
  do_all t.due (serve t);
  let due = List.rev t.taken in
  t.due := due;
  t.taken <- [];
  do_all t.due (serve t)

(* Serves what was posted until now. *)
let serve_all t =
  pay t;
  serve_taken t;
  begin match Poller_inbox.state t.inbox with
  | Awake [] -> ()
  | Awake _ | Asleep _ ->
      t.taken <- Poller_inbox.take t.inbox;
      serve_taken t
  end;
  leave_settled t

let let_go t =
  (not t.polls)
  && begin
    serve_all t;
    true
  end

let move t ~into =
  serve_all t;
  let enlist slot =
    let add direction wait =
      if is_live wait then begin
        Owner.refer slot.owner;
        post (into ())
          (Add { owner = slot.owner; direction; wait; refers = true })
      end
    in
    List.iter (add Read) (List.rev slot.readers);
    List.iter (add Write) (List.rev slot.writers);
    slot.readers <- [];
    slot.writers <- [];
    settle t slot
  in
  By_fd.iter (fun _ slot -> enlist slot) t.table;
  serve_all t

(* --- Polling -------------------------------------------------------------- *)

(* A child process would share the bell and the multiplexer with its parent, so it gets its
   own. *)
let own_all t =
  let generation = Native.generation () in
  if generation <> t.generation then begin
    Poller_inbox.renew_bell t.inbox;
    t.multiplexer <- multiplexer ();
    t.stale <- true;
    t.generation <- generation
  end

(* If a slot was emptied meanwhile, its descriptor may be another file now, so the answer is
   ignored. *)
let respond t (slot, (ready : Multiplexer.ready)) =
  match slot with
  | None ->
      (* This descriptor is the bell. *)
      Poller_inbox.listen t.inbox;
      set_bell t
  | Some slot when slot.total > 0 ->
      let error = if ready.closed then Some bad_descriptor else None in
      answer t slot ~readers:ready.read ~writers:ready.write error
  | Some _ -> ()

let look t ~block =
  let slot_of (fd, ready) = (By_fd.find_opt fd t.table, ready) in
  let found = List.map slot_of (t.multiplexer.wait ~block) in
  (* Messages are served first, because one may say that a found descriptor is closed. *)
  serve_all t;
  List.iter (respond t) found;
  leave_settled t

(* [woken] is cleared last, so that a wake-up from then on counts for the next poll. *)
let poll_now t ~block =
  own_all t;
  if t.stale then refresh t;
  t.stale <- true;
  serve_all t;
  if block && (not t.woken) && Poller_inbox.announce t.inbox ~waiting:t.waiting
  then look t ~block:true
  else if not (By_fd.is_empty t.table) then
    (* Other threads may post all the time, so the descriptors are checked even if the loop can't
       sleep. *)
    look t ~block:false;
  if block then t.woken <- false;
  t.stale <- false

let poll t ~block =
  let go () =
    t.polls <- true;
    poll_now t ~block
  in
  Ensure.finally (fun t -> t.polls <- false) t go ()
