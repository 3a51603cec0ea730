module Waiter = Concord.Structure_kit.Waiter

type direction = Read | Write
type wait = Wait : { waiter : ('x, 'a) Waiter.t; value : 'a } -> wait

type message =
  | Add of { fd : int; direction : direction; wait : wait }
  | Gone of int
  | Forget of int
  | Wake

(* [inbox], the only Atomic here: what other threads, and tasks of the loop's own, have
   for the loop

   State              Left by    To              By whom
   asleep = a, ms     post       awake, m :: ms  any thread; it rings unless a = awake
                      announce   n, []           the loop, for which n wait, if it was
                                                 awake and ms = []
                      take       awake, []       the loop, which serves ms; after it
                                                 polled also if ms = []

   Debt: the thread that leaves [asleep] by a post rings the bell. A signal handler that
   raises out of the loop's poll leaves the loop [asleep]: then one ring is in vain. *)
type inbox = {
  asleep : int;  (** How many waited when the loop fell asleep; or {!awake}. *)
  latest_first : message list;  (** [[]] if it is asleep. *)
}

let awake = -1
let empty = { asleep = awake; latest_first = [] }

(* One descriptor, while anybody waits for it. The bell is one, too. *)
type slot = {
  fd : int;
  mutable watch : slot Multiplexer.watch option;  (** Soon after it is made. *)
  mutable readers : wait list;  (** Latest first. *)
  mutable writers : wait list;
  mutable total : int;
  mutable gone : int;
      (** At least as many as are gone: a waiter that was resumed and withdrawn
          may be counted for a later slot of the same descriptor. *)
}

type t = {
  inbox : inbox Atomic.t;
  mutable bell_in : Unix.file_descr;
  mutable bell_out : Unix.file_descr;
  mutable process : int;
  mutable multiplexer : slot Multiplexer.t;
  table : (int, slot) Hashtbl.t;
  mutable bell : slot;
  mutable stale : bool;  (** Has the multiplexer to be told all of it again? *)
  mutable waiting : int;  (** The sum of all [total]. *)
  mutable woken : bool;  (** Since {!poll} last returned. *)
  mutable due : message list;  (** Taken, and to be served; oldest first. *)
  mutable owed : (exn option * wait) list;
      (** To be resumed next. A signal handler may raise anywhere: what is due
          or owed stays here until it is done. To do it twice does no harm. *)
}

let fd_of_int : int -> Unix.file_descr = Iomux.Util.unix_of_fd
let int_of_fd : Unix.file_descr -> int = Iomux.Util.fd_of_unix

let bell () =
  let out, in_ = Unix.pipe ~cloexec:true () in
  Unix.set_nonblock out;
  Unix.set_nonblock in_;
  (in_, out)

let slot multiplexer fd =
  let slot =
    { fd; watch = None; readers = []; writers = []; total = 0; gone = 0 }
  in
  slot.watch <- Some (Multiplexer.watch multiplexer (fd_of_int fd) slot);
  slot

let create () =
  let multiplexer = Multiplexer.create () in
  let bell_in, bell_out =
    try bell ()
    with Unix.Unix_error _ as e ->
      Multiplexer.close multiplexer;
      raise e
  in
  {
    inbox = Atomic.make empty;
    bell_in;
    bell_out;
    process = Unix.getpid ();
    multiplexer;
    table = Hashtbl.create 16;
    bell = slot multiplexer (int_of_fd bell_out);
    stale = true;
    waiting = 0;
    woken = false;
    due = [];
    owed = [];
  }

let close_bell t =
  Unix.close t.bell_in;
  Unix.close t.bell_out

let close t =
  Multiplexer.close t.multiplexer;
  close_bell t

(* --- For any thread ------------------------------------------------------- *)

(* A pipe that is full rings anyway. *)
let rec ring t =
  try ignore (Unix.single_write_substring t.bell_in "!" 0 1 : int) with
  | Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  | Unix.Unix_error (EINTR, _, _) -> ring t

let rec post t message =
  let before = Atomic.get t.inbox in
  let after =
    { asleep = awake; latest_first = message :: before.latest_first }
  in
  if Atomic.compare_and_set t.inbox before after then
    begin if before.asleep <> awake then ring t
    end
  else (* another thread posted, or the loop took *) post t message

let enlist t fd direction waiter value =
  let wait = Wait { waiter; value } in
  post t (Add { fd = int_of_fd fd; direction; wait })

(* The system holds the file of a descriptor that it waits for: it must be let go now, for
   its user may close it next. *)
let count_gone t fd = post t (Gone (int_of_fd fd))
let forget t fd = post t (Forget (int_of_fd fd))
let wake t = post t Wake
let waiting t = t.waiting

type rest = Idle | Busy | Waiting

let is_live (Wait { waiter; _ }) = Waiter.is_live waiter

let adds_somebody = function
  | Add { wait; _ } -> is_live wait
  | Gone _ | Forget _ | Wake -> false

let rest t =
  match Atomic.get t.inbox with
  | { asleep = 0; _ } -> Idle
  | { asleep; _ } when asleep <> awake -> Waiting
  | { latest_first; _ } ->
      if List.exists adds_somebody latest_first then Waiting else Busy

(* --- Slots, for the loop alone -------------------------------------------- *)

let tell t slot ~read ~write =
  Multiplexer.set t.multiplexer (Option.get slot.watch) ~read ~write

let set t slot =
  tell t slot
    ~read:(not (List.is_empty slot.readers))
    ~write:(not (List.is_empty slot.writers))

let set_bell t = tell t t.bell ~read:true ~write:false

(* What the multiplexer had found when a signal handler raised is lost. *)
let refresh t =
  let forget slot = tell t slot ~read:false ~write:false in
  forget t.bell;
  set_bell t;
  Hashtbl.iter
    (fun _ slot ->
      forget slot;
      set t slot)
    t.table;
  t.stale <- false

let slot_of t fd =
  match Hashtbl.find_opt t.table fd with
  | Some slot -> slot
  | None ->
      let slot = slot t.multiplexer fd in
      Hashtbl.add t.table fd slot;
      slot

let resume error (Wait { waiter; value }) =
  let outcome = match error with None -> Ok value | Some e -> Error e in
  ignore (Waiter.resume waiter outcome : bool)

let settle t slot =
  let total = List.length slot.readers + List.length slot.writers in
  t.waiting <- t.waiting - slot.total + total;
  slot.total <- total;
  slot.gone <- 0;
  set t slot;
  if slot.total = 0 then Hashtbl.remove t.table slot.fd

let rec pay t =
  match t.owed with
  | [] -> ()
  | (error, wait) :: rest ->
      resume error wait;
      t.owed <- rest;
      pay t

(* In the order of arrival. *)
let answer t slot ~readers ~writers error =
  let owe waits others =
    List.fold_left (fun owed wait -> (error, wait) :: owed) others waits
  in
  let owed = if writers then owe slot.writers [] else [] in
  t.owed <- (if readers then owe slot.readers owed else owed);
  if readers then slot.readers <- [];
  if writers then slot.writers <- [];
  settle t slot;
  pay t

let bad_descriptor = Unix.Unix_error (EBADF, "poll", "")

let serve t = function
  | Wake -> t.woken <- true
  | Add { fd; direction; wait } ->
      let slot = slot_of t fd in
      begin match direction with
      | Read -> slot.readers <- wait :: slot.readers
      | Write -> slot.writers <- wait :: slot.writers
      end;
      slot.total <- slot.total + 1;
      t.waiting <- t.waiting + 1;
      set t slot
  | Gone fd -> (
      match Hashtbl.find_opt t.table fd with
      | None -> (* the waiter was resumed as well *) ()
      | Some slot ->
          slot.gone <- slot.gone + 1;
          if 2 * slot.gone > slot.total then begin
            slot.readers <- List.filter is_live slot.readers;
            slot.writers <- List.filter is_live slot.writers;
            settle t slot
          end)
  | Forget fd -> (
      match Hashtbl.find_opt t.table fd with
      | None -> ()
      | Some slot ->
          answer t slot ~readers:true ~writers:true (Some bad_descriptor))

let rec serve_due t =
  match t.due with
  | [] -> ()
  | message :: rest ->
      serve t message;
      t.due <- rest;
      serve_due t

(* Serves what was posted. Was there anything? *)
let take t =
  pay t;
  serve_due t;
  match Atomic.get t.inbox with
  | { latest_first = []; asleep } when asleep = awake -> false
  | before ->
      let due = List.rev before.latest_first in
      if Atomic.compare_and_set t.inbox before empty then t.due <- due;
      (* else another thread posted, and will be found next *)
      serve_due t;
      true

let rec take_all t = if take t then take_all t

let has_waiters t =
  take_all t;
  Multiplexer.flush t.multiplexer;
  let waits slot =
    List.exists is_live slot.readers || List.exists is_live slot.writers
  in
  Hashtbl.fold (fun _ slot any -> any || waits slot) t.table false

(* Whoever closes a descriptor meanwhile calls [forget] for [t], and then for [into]. If the
   first comes too late for the second [take_all], then the second comes after the
   waiter. *)
let move t ~into =
  take_all t;
  let enlist slot =
    let add direction wait =
      if is_live wait then post into (Add { fd = slot.fd; direction; wait })
    in
    List.iter (add Read) (List.rev slot.readers);
    List.iter (add Write) (List.rev slot.writers)
  in
  let slots = Hashtbl.fold (fun _ slot all -> slot :: all) t.table [] in
  List.iter enlist slots;
  take_all t;
  Hashtbl.iter
    (fun _ slot ->
      t.waiting <- t.waiting - slot.total;
      tell t slot ~read:false ~write:false)
    t.table;
  Hashtbl.reset t.table;
  Multiplexer.flush t.multiplexer

(* --- Polling -------------------------------------------------------------- *)

(* In a child process the bell and the multiplexer would be the parent's too. *)
let own_all t =
  let process = Unix.getpid () in
  if process <> t.process then begin
    let multiplexer = Multiplexer.create () in
    let bell_in, bell_out = bell () in
    close_bell t;
    t.bell_in <- bell_in;
    t.bell_out <- bell_out;
    t.multiplexer <- multiplexer;
    t.bell <- slot multiplexer (int_of_fd bell_out);
    Hashtbl.iter
      (fun fd slot ->
        slot.watch <- Some (Multiplexer.watch multiplexer (fd_of_int fd) slot))
      t.table;
    t.stale <- true;
    t.process <- process
  end

let rec listen t =
  match Unix.read t.bell_out (Bytes.create 64) 0 64 with
  | 64 -> listen t
  | _ -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK | EINTR), _, _) -> ()

(* A slot that is left was emptied meanwhile: the descriptor may be another file now. *)
let respond t (slot, (ready : Revents.t)) =
  if slot == t.bell then begin
    listen t;
    set_bell t
  end
  else if slot.total > 0 then
    let error = if ready.closed then Some bad_descriptor else None in
    answer t slot ~readers:ready.read ~writers:ready.write error

let look t ~block =
  let found = Multiplexer.wait t.multiplexer ~block in
  (* first: it may say that what was found is closed *)
  take_all t;
  List.iter (respond t) found

(* [woken] is cleared last: what wakes the loop from now on is for its next poll. *)
let poll t ~block =
  own_all t;
  if t.stale then refresh t;
  t.stale <- true;
  take_all t;
  if block && not t.woken then begin
    let asleep = { asleep = t.waiting; latest_first = [] } in
    if Atomic.compare_and_set t.inbox empty asleep then look t ~block:true
  end
  else if Hashtbl.length t.table > 0 then look t ~block:false
  else Multiplexer.flush t.multiplexer;
  if block then t.woken <- false;
  t.stale <- false
