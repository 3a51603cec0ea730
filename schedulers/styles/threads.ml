(* The system keeps the rest of each thread. A thread that must wait blocks, and the system
   runs another one. So there is no scheduler here, and no continuation. Locks are used for the
   things that the other styles do in [Group]. These are the set of threads, its end, and
   whether anything is left that could wake a thread. *)

include Boxes
open Concord
open Concord.Tools
module Lock = Stdlib.Mutex
module Reach = Concord.Private.Reach

type ending = Not_yet | Stopping | Failing of exn * Printexc.raw_backtrace

(* [waiting] counts the threads that wait and were not resumed. Each change of [rings] makes
   [start] check what has to be done, and [bell] wakes it for that. [lock] guards all other
   fields. *)
type group = {
  to_begin : (unit -> unit) Queue.t;
  live : (int, thread) Hashtbl.t;
  mutable is_running : bool;
  mutable ending : ending;
  waiting : int Atomic.t;
  rings : int Atomic.t;
  bell : unit Suspend.resumer Atomic.t;
}

(* [interrupt] ends the wait of a thread that waits. *)
and thread = { group : group; mutable interrupt : even_protected:bool -> unit }

let lock = Lock.create ()
let locked f = Lock.protect lock f

(* The group of each thread. A thread that has spawned the first threads of a group, and has
   not called [start], has that group too. *)
let groups : (int, group) Hashtbl.t = Hashtbl.create 16
let this_thread () = Thread.id (Thread.self ())
let find () = locked (fun () -> Hashtbl.find_opt groups (this_thread ()))

let ring group =
  ignore (Atomic.fetch_and_add group.rings 1 : int);
  ignore ((Atomic.get group.bell) (Ok ()) : bool)

let is_ending group =
  match group.ending with Not_yet -> false | Stopping | Failing _ -> true

let raise_if_stopped group = if is_ending group then raise_notrace Group.Ended

(* --- Waiting ---------------------------------------------------------------- *)

let put_mvar = Mvar.put
let take_mvar = Mvar.take
let take_fifo = Mailbox.take
let sync = Event.sync
let no_interrupt ~even_protected:_ = ()

(* [waiting] is read first. So if a thread is spawned in between, it counts as one that doesn't
   wait. *)
let all_wait group =
  let waiting = Atomic.get group.waiting in
  waiting = locked (fun () -> Hashtbl.length group.live)

(* [count]

   State    Left by     To       By whom
   Not_yet  begin_wait  Counted  the thread, once it can be resumed
   Not_yet  end_wait    Over     the code that resumes it, or the thread if it need not wait
   Counted  end_wait    Over     the same, which then decrements [waiting]
   Over     (never)

   A thread that checks whether it must wait is not counted yet, because it may find a value
   from a thread that has ended since. While a thread is being resumed, it is no longer
   counted. Then [resumer] may still refuse, because the thread continues for another reason.
   There is no polling point from a change of [count] to that of [waiting]. *)
type count = Not_yet | Counted | Over

let suspend ({ group; _ } as thread) ~protected block =
  let count = Atomic.make Not_yet in
  let begin_wait () =
    if Atomic.compare_and_set count Not_yet Counted then begin
      ignore (Atomic.fetch_and_add group.waiting 1 : int);
      if all_wait group then ring group
    end
  in
  let end_wait () =
    match Atomic.exchange count Over with
    | Counted -> ignore (Atomic.fetch_and_add group.waiting (-1) : int)
    | Not_yet | Over -> ()
  in
  let block resumer =
    let resumer outcome =
      end_wait ();
      resumer outcome
    in
    let interrupt ~even_protected =
      if even_protected || not protected then
        ignore (resumer (Error Group.Ended) : bool)
    in
    if not protected then raise_if_stopped group;
    let found = block resumer in
    (* If it has found a value, it keeps it. Otherwise, either [end_with] comes later and sees
       [interrupt], or it came before and [is_ending] is true. *)
    if Option.is_none found then begin
      thread.interrupt <- interrupt;
      if is_ending group then interrupt ~even_protected:false;
      begin_wait ()
    end;
    found
  in
  Fun.protect
    (fun () -> Host_kit.suspend_thread block)
    ~finally:(fun () ->
      thread.interrupt <- no_interrupt;
      end_wait ())

(* --- The end ---------------------------------------------------------------- *)

let interrupt_all group ~even_protected =
  locked (fun () -> List.of_seq (Hashtbl.to_seq_values group.live))
  |> List.iter (fun thread -> thread.interrupt ~even_protected)

let end_with group ending =
  locked (fun () ->
      Queue.clear group.to_begin;
      if not (is_ending group) then group.ending <- ending);
  interrupt_all group ~even_protected:false

let halt = Direct.halt

let stop () =
  match find () with
  | None -> ()
  | Some group when group.is_running ->
      end_with group Stopping;
      raise_notrace Group.Ended
  | Some _ -> locked (fun () -> Hashtbl.remove groups (this_thread ()))

(* --- Threads ---------------------------------------------------------------- *)

let skip = ()
let prompt = Prompt.new_prompt ()

let perform thread f =
  let host = Host_kit.create () in
  let wait ~protected block k =
    k
      (match suspend thread ~protected block with
      | v -> Ok v
      | exception e -> Error e)
  in
  let meaning = Direct.meaning ~name:"Threads" host { wait } in
  Host_kit.using host (fun () ->
      Prompt.push_prompt_with meaning prompt (Direct.body f))

let forget group =
  Hashtbl.remove groups (this_thread ());
  Hashtbl.remove group.live (this_thread ())

let create_thread group f v =
  try Thread.create f v
  with Sys_error message ->
    Printf.ksprintf
      (fun message -> raise (Sys_error message))
      "Concord_styles.Threads: there are %d threads, and one more could not be \
       created (%s)"
      (Hashtbl.length group.live)
      message

(* Each thread starts the next one before it runs its own function. The lock is held until the
   new thread is registered, so it can neither end nor look up its group before that. *)
let rec begin_next group =
  locked @@ fun () ->
  match Queue.take_opt group.to_begin with
  | None -> ()
  | Some f ->
      let thread = { group; interrupt = no_interrupt } in
      let id = Thread.id (create_thread group (run thread) f) in
      Hashtbl.replace groups id group;
      Hashtbl.replace group.live id thread

and run ({ group; _ } as thread) f =
  begin try
    begin_next group;
    perform thread f
  with e -> end_with group (Failing (e, Printexc.get_raw_backtrace ()))
  end;
  locked (fun () -> forget group);
  ring group

let create () =
  {
    to_begin = Queue.create ();
    live = Hashtbl.create 16;
    is_running = false;
    ending = Not_yet;
    waiting = Atomic.make 0;
    rings = Atomic.make 0;
    bell = Atomic.make (fun _ -> false);
  }

let spawn f =
  match find () with
  | Some group when is_ending group -> ()
  | Some group ->
      locked (fun () -> Queue.push f group.to_begin);
      if group.is_running then begin_next group
  | None ->
      let group = create () in
      Queue.push f group.to_begin;
      locked (fun () -> Hashtbl.replace groups (this_thread ()) group)

let yield () =
  Thread.yield ();
  Option.iter raise_if_stopped (find ())

(* --- The start -------------------------------------------------------------- *)

let sleep group ~rings =
  let wake () = ignore ((Atomic.get group.bell) (Ok ()) : bool) in
  let in_host = Loop.is_in_host () in
  let forget = Loop.check_again ~in_host wake in
  Loop.finally ~finally:forget (fun () ->
      Reach.suspend_unlisted (fun resumer ->
          Atomic.set group.bell resumer;
          if Atomic.get group.rings = rings then None else Some ()))

(* The last code that could wake a thread may have done so meanwhile. Then that thread no
   longer waits, or it waits again and has changed [rings]. So both are checked again. *)
let is_stuck group ~live ~rings =
  all_wait group
  && (not (Host_kit.may_be_woken ~asleep:live))
  && Atomic.get group.rings = rings
  && all_wait group

let rec wait_for_all group =
  let rings = Atomic.get group.rings in
  let live = locked (fun () -> Hashtbl.length group.live) in
  if live > 0 then begin
    if is_stuck group ~live ~rings then
      begin if is_ending group then interrupt_all group ~even_protected:true
      else raise (Group.Deadlock live)
      end
    else sleep group ~rings;
    wait_for_all group
  end

(* This repeats, because a signal handler may raise while the first exception is handled. *)
let rec to_the_end group f =
  match f () with
  | () -> ()
  | exception e ->
      let failing = Failing (e, Printexc.get_raw_backtrace ()) in
      to_the_end group (fun () ->
          end_with group failing;
          Suspend.protect (fun () -> wait_for_all group))

let start () =
  match find () with
  | None -> ()
  | Some { is_running = true; _ } -> Loop.refuse_to_start "Threads"
  | Some group -> (
      locked (fun () -> Hashtbl.remove groups (this_thread ()));
      group.is_running <- true;
      to_the_end group (fun () ->
          begin_next group;
          wait_for_all group);
      match group.ending with
      | Not_yet | Stopping -> ()
      | Failing (e, backtrace) -> Printexc.raise_with_backtrace e backtrace)
