module Structure_kit = Concord.Tools.Structure_kit
module Event = Concord.Event
module Host_kit = Concord.Tools.Host_kit
module Poll = Iomux.Poll

(* --- Loops that poll themselves ------------------------------------------- *)

type loop = {
  thread : int;
  poller : Poller.t;
  is_innermost : unit -> bool;
      (** Only for a task of this loop, in which no other scheduler runs. *)
}

(* The loops of the domain's threads. Each thread adds and removes its own. *)
let loops : loop list Atomic.t Domain.DLS.key =
  Domain.DLS.new_key (fun () -> Atomic.make [])

let this_thread () = Thread.id (Thread.self ())

let own_loop () =
  match Atomic.get (Domain.DLS.get loops) with
  | [] -> None
  | loops ->
      let thread = this_thread () in
      List.find_opt (fun loop -> loop.thread = thread) loops

let poller () =
  match own_loop () with
  | Some loop when loop.is_innermost () -> loop.poller
  | Some _ | None -> Shared_poller.get ()

(* Every poller, of every domain: any may have a waiter for a descriptor. *)
let all_loops : loop list Atomic.t = Atomic.make []

(* The thread's poller comes last: see {!Poller.move}. *)
let forget fd =
  List.iter
    (fun { poller; _ } -> Poller.forget poller fd)
    (Atomic.get all_loops);
  match Shared_poller.served () with
  | Some poller -> Poller.forget poller fd
  | None -> ()

let has_thread () = Option.is_some (Shared_poller.served ())

let waiting () =
  let of_loop { poller; _ } = Poller.waiting poller in
  let of_loops = List.map of_loop (Atomic.get all_loops) in
  let of_thread =
    match Shared_poller.served () with
    | Some poller ->
        Poller.wake poller;
        Poller.waiting poller
    | None -> 0
  in
  List.fold_left ( + ) of_thread of_loops

(* --- Waiting -------------------------------------------------------------- *)

let look fd (direction : Poller.direction) =
  let flags =
    match direction with
    | Read -> Poll.Flags.pollin
    | Write -> Poll.Flags.pollout
  in
  let poll = Poll.create ~maxfds:1 () in
  Poll.set_index poll 0 fd flags;
  match Poll.poll poll 1 Nowait with
  | 0 -> false
  | _ ->
      let found = Poll.get_revents poll 0 in
      if Poll.Flags.(mem found pollnval) then
        raise (Unix.Unix_error (EBADF, "poll", ""))
      else true
  | exception Unix.Unix_error (EINTR, _, _) -> false

type descriptor = {
  fd : Unix.file_descr;
  direction : Poller.direction;
  is_closing : unit -> bool;
      (** Whoever closes the descriptor makes this [true], then calls {!forget}.
      *)
}

(* [enlist] does not raise. If the poller's thread cannot be started, [attempt] says so. *)
let enlist { fd; direction; is_closing } waiter value =
  match poller () with
  | poller ->
      Poller.enlist poller fd direction waiter value;
      (* [forget] may have come before *)
      if is_closing () then Poller.forget poller fd;
      true
  | exception (Unix.Unix_error _ | Sys_error _) -> false

let attempt { fd; direction; _ } found =
  if look fd direction then Some found
  else begin
    ignore (poller () : Poller.t);
    None
  end

(* A task withdraws where it was enlisted: on the same loop, or by the same thread. *)
let withdraw { fd; _ } _ =
  match poller () with
  | poller -> Poller.count_gone poller fd
  | exception (Unix.Unix_error _ | Sys_error _) -> ()

let readiness =
  {
    Structure_kit.default with
    name = "Concord_aio";
    how =
      By_hand
        {
          attempt = (fun t () -> attempt t ());
          enlist = (fun t waiter -> enlist t waiter ());
          withdraw;
        };
  }

let never () = false

let wait ?(is_closing = never) fd direction =
  Structure_kit.wait readiness { fd; direction; is_closing } ()

let descriptor fd direction = { fd; direction; is_closing = never }
let evt fd direction = Event.make readiness (descriptor fd direction) ()

(* What the resumed task finds goes into a fresh cell, so that the event can be performed
   any number of times. *)
let tentative_evt fd direction f =
  let operation =
    {
      Structure_kit.default with
      name = "Concord_aio";
      how =
        By_hand
          {
            attempt =
              (fun _ () ->
                match f () with
                | Some _ as found -> Some (ref found)
                | None ->
                    ignore (poller () : Poller.t);
                    None);
            enlist = (fun t waiter -> enlist t waiter (ref None));
            withdraw;
          };
    }
  in
  let confirm cell =
    Option.is_some !cell
    ||
    (cell := f ();
     Option.is_some !cell)
  in
  Event.wrap
    (Event.make_by (Tentative confirm) operation (descriptor fd direction) ())
    (fun cell -> Option.get !cell)

(* --- Running -------------------------------------------------------------- *)

(* A busy loop looks at the descriptors after so many turns. *)
let turns_between_spins = 64

let poll_in poller block =
  let resumer _ =
    Poller.wake poller;
    true
  in
  match block resumer with
  | Some () -> ()
  | None -> Poller.poll poller ~block:true

(* Pollers of loops that have ended: any thread takes one for its loop, and gives it back.
   They are not closed, for another thread may be about to ring one's bell: then the next
   loop looks once in vain. *)
let spares : Poller.t list Atomic.t = Atomic.make []

let rec take_spare () =
  match Atomic.get spares with
  | [] -> Poller.create ()
  | poller :: rest as before ->
      if Atomic.compare_and_set spares before rest then poller
      else (* another loop began or ended *) take_spare ()

let run_here f =
  let poller = take_spare () in
  let enter ~is_innermost =
    let loop = { thread = this_thread (); poller; is_innermost } in
    let add = Structure_kit.update in
    add (Domain.DLS.get loops) (List.cons loop);
    add all_loops (List.cons loop);
    {
      Concord.Private.Fifo.wait = poll_in poller;
      look = (fun () -> Poller.poll poller ~block:false);
      every = turns_between_spins;
      spins = false;
    }
  in
  let leave () =
    let remove = List.filter (fun loop -> loop.poller != poller) in
    Structure_kit.update (Domain.DLS.get loops) remove;
    (* what waits for no task of the loop *)
    if Poller.has_waiters poller then
      Poller.move poller ~into:(Shared_poller.get ());
    (* last: [forget] finds a waiter in the one or the other *)
    Structure_kit.update all_loops remove;
    Structure_kit.update spares (List.cons poller)
  in
  Fun.protect ~finally:leave (fun () -> Concord.Private.Fifo.run_polled enter f)

let run f =
  match Host_kit.probe { passing = ignore } with
  | Suspends -> Concord_fifo.run f
  | Parks -> run_here f
