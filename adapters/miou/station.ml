module Inbox = Concord.Tools.Host_kit.Inbox
module Spin = Concord.Tools.Host_kit.Spin
module Uid = Miou.Domain.Uid

type pipe = { input : Miou_unix.file_descr; output : Unix.file_descr }

(* The porter writes [thread] before the run's function is called. Only the porter's thread
   uses the fields after [pipe]. The exception is [is_heard], which any thread of the domain
   sets to [false]. *)
type t = {
  domain : Uid.t;
  mutable thread : int;
  inbox : Miou.Trigger.t Inbox.t;
  pipe : pipe;
  dying : Dying.t;
  mutable kept : (exn * Printexc.raw_backtrace) option;
      (** An exception that came too late. *)
  spin : Spin.t;
  mutable bell : Miou.Trigger.t;
      (** The porter waits for it, or has waited for it. *)
  mutable ear : Miou.Trigger.t;
      (** The listener waits for it, while the porter is awake. *)
  mutable listener : unit Miou.t option;
      (** Signals [bell] when the pipe has bytes. *)
  mutable is_heard : bool;
      (** [false] if Miou may have forgotten that the listener reads. *)
}

let dying t = t.dying
let keep t e backtrace = t.kept <- Some (e, backtrace)

let raise_kept t =
  match t.kept with
  | None -> ()
  | Some (e, backtrace) ->
      t.kept <- None;
      Printexc.raise_with_backtrace e backtrace

let this_thread () = Thread.id (Thread.self ())

(* The stations of the run in progress. *)
let stations : t list Atomic.t = Atomic.make []
let this_domain () = Uid.of_int (Domain.self () :> int)

let here () =
  match Atomic.get stations with
  | [] -> None
  | stations ->
      let domain = this_domain () and thread = this_thread () in
      let is_here t = Uid.equal t.domain domain && t.thread = thread in
      List.find_opt is_here stations

(* --- Pipes -------------------------------------------------------------------- *)

(* A resumer may be called after its run has ended. So a pipe is never closed, but a later run
   uses it again. There, a byte too many does no harm. *)
let pipes : pipe list Atomic.t = Atomic.make []

let rec take_pipe () =
  match Atomic.get pipes with
  | pipe :: rest as before ->
      if Atomic.compare_and_set pipes before rest then pipe else take_pipe ()
  | [] ->
      let input, output = Unix.pipe ~cloexec:true () in
      Unix.set_nonblock output;
      { input = Miou_unix.of_file_descr ~non_blocking:true input; output }

let byte = Bytes.make 1 '.'

(* A full pipe wakes the loop as well, and a second byte does no harm. *)
let rec ring pipe =
  match Unix.single_write pipe.output byte 0 1 with
  | (_ : int) -> ()
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> ()
  | exception Unix.Unix_error (EINTR, _, _) -> ring pipe

(* --- Posting ------------------------------------------------------------------ *)

let resumer t decision trigger =
  let wake () = ring t.pipe and message _ = trigger in
  Inbox.resumer t.inbox ~wake decision message

(* --- The porter ---------------------------------------------------------------- *)

(* How many messages one turn of the porter serves. This is bounded, because other tasks have
   to run too. *)
let max_served = 1_000

(* How many turns without a message the porter has before it sleeps. Meanwhile a message needs
   no system call, and the loop doesn't sleep either. If no other task has run since the
   porter's last turn, only the porter keeps the loop awake. Then the porter spins, in one of
   these turns. *)
let max_turns = 32

let serve t =
  let rec go served =
    if served < max_served && Inbox.serve t.inbox Miou.Trigger.signal then
      go (served + 1)
    else served > 0
  in
  go 0

let await trigger =
  match Miou.Trigger.await trigger with
  | None -> ()
  | Some (e, backtrace) -> Printexc.raise_with_backtrace e backtrace

(* The listener is a task of its own, because Miou_unix may forget that it reads, see
   [on_spawn]. While a task reads, Miou makes a system call in each turn. So the listener reads
   only while the porter sleeps. *)
let listen t () =
  let buffer = Bytes.create 64 in
  let rec go () =
    await t.ear;
    t.ear <- Miou.Trigger.create ();
    ignore (Miou_unix.read t.pipe.input buffer : int);
    Miou.Trigger.signal t.bell;
    go ()
  in
  Fun.protect go ~finally:(fun () -> Miou.Trigger.signal t.bell)

let is_running task = Miou.Promise.state task = Running
let is_listening t = Option.fold t.listener ~none:false ~some:is_running

(* If the listener has ended, it has raised, so [await_exn] raises that here. *)
let stop_listening t =
  let stop listener =
    if is_running listener then Miou.cancel listener
    else Miou.await_exn listener
  in
  Option.iter stop t.listener

let start_listening t =
  t.is_heard <- true;
  stop_listening t;
  t.listener <- Some (Miou.async (listen t))

let sleep t =
  if Inbox.fall_asleep t.inbox then begin
    t.bell <- Miou.Trigger.create ();
    if not t.is_heard then start_listening t;
    Miou.Trigger.signal t.ear;
    await t.bell;
    Inbox.wake_up t.inbox;
    if not (is_listening t) then stop_listening t
  end

(* Miou calls this function before each turn of its loop, but never again once it has raised.
   So it is unbroken. Unless the bell is rung, it has no polling point, not even that of a tail
   call. *)
let before_turn t () =
  Dying.next_turn t.dying;
  if not t.is_heard then
    begin try Miou.Trigger.signal t.bell
    with e ->
      let backtrace = Printexc.get_raw_backtrace () in
      keep t e backtrace;
      Miou.Trigger.signal t.bell
    end;
  ()

(* In each turn of the loop one task runs. So if the porter runs again in the next turn, no
   other task was ready. *)
let is_alone_after_yield t =
  let before = Dying.turn t.dying in
  Miou.yield ();
  Dying.turn t.dying = before + 1

let look t = Spin.until t.spin (fun () -> not (Inbox.is_empty t.inbox))

let porter t begun () =
  t.thread <- this_thread ();
  ignore (Miou.Hook.add (before_turn t) : Miou.Hook.t);
  ignore (Atomic.fetch_and_add begun 1 : int);
  let rec go ~looks turns =
    if serve t then turn ~looks:true max_turns
    else if turns > 0 then turn ~looks (turns - 1)
    else begin
      sleep t;
      go ~looks:true max_turns
    end
  and turn ~looks turns =
    if is_alone_after_yield t && looks then
      if look t then go ~looks:true max_turns else go ~looks:false turns
    else go ~looks turns
  in
  go ~looks:true max_turns

(* When a domain is spawned, Miou_unix 0.7 forgets all tasks that wait for input, output or
   time in the domain of the caller. If the caller is a task, the loop may sleep before the
   next turn, so the bell is rung at once. *)
let on_spawn () =
  let domain = this_domain () in
  let hear t =
    if Uid.equal t.domain domain then begin
      t.is_heard <- false;
      if t.thread = this_thread () then Miou.Trigger.signal t.bell
    end
  in
  List.iter hear (Atomic.get stations)

let (_ : unit Domain.DLS.key) =
  Domain.DLS.new_key ~split_from_parent:on_spawn Fun.id

(* --- A run ---------------------------------------------------------------------- *)

let create domain =
  {
    domain;
    thread = -1;
    inbox = Inbox.create ();
    pipe = take_pipe ();
    dying = Dying.create ();
    kept = None;
    spin = Spin.create ();
    bell = Miou.Trigger.create ();
    ear = Miou.Trigger.create ();
    listener = None;
    is_heard = false;
  }

let start t begun =
  if Uid.equal t.domain (Miou.Domain.self ()) then Miou.async (porter t begun)
  else Miou.call ~pin:t.domain (porter t begun)

(* If a porter or [f] raises, all tasks end. The run has to end if a porter raises, because
   nothing would wake the tasks of the porter's domain. *)
let main f () =
  let all = List.map create (Miou.Domain.self () :: Miou.Domain.all ()) in
  Atomic.set stations all;
  let begun = Atomic.make 0 in
  let porters = List.map (fun t -> start t begun) all in
  while Atomic.get begun < List.length all do
    Miou.yield ()
  done;
  let value = ref None and backtrace = ref None in
  let body () =
    match f () with
    | v -> value := Some v
    | exception e ->
        let of_e = Printexc.get_raw_backtrace () in
        backtrace := Some of_e;
        Printexc.raise_with_backtrace e of_e
  in
  match Miou.await_first (Miou.async body :: porters) with
  | Ok () -> Option.get !value
  | Error e -> (
      match !backtrace with
      | Some backtrace -> Printexc.raise_with_backtrace e backtrace
      | None -> raise e)

let runs = Atomic.make false

(* Called when all domains of the run have ended. *)
let leave () =
  let pipes_left = List.map (fun t -> t.pipe) (Atomic.get stations) in
  Atomic.set stations [];
  Concord.Tools.Structure_kit.update pipes (List.append pipes_left);
  Atomic.set runs false

let run ?g ?domains f =
  if not (Atomic.compare_and_set runs false true) then
    invalid_arg "Concord_miou.run: Miou runs already";
  Fun.protect ~finally:leave (fun () -> Miou_unix.run ?g ?domains (main f))
