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

(* For tests. *)
let all_loops : loop list Atomic.t = Atomic.make []
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
  direction : Poller.direction;
  refer : unit -> Owner.t;
      (** A new reference to the owner.
          - {b Raises} [Unix.Unix_error] if it is closing. *)
  fd : Unix.file_descr;
  is_closing : unit -> bool;
      (** Whoever makes this [true], and not the owner's closing, calls
          {!Owner.rouse} afterwards. *)
}

let bad_descriptor = Unix.Unix_error (EBADF, "poll", "")

(* [enlist] does not raise. If the poller's thread cannot be started, [attempt] says so. *)
let enlist { direction; refer; is_closing; _ } waiter value =
  match poller () with
  | exception (Unix.Unix_error _ | Sys_error _) -> false
  | poller -> (
      match refer () with
      | owner ->
          Poller.enlist poller ~is_closing owner direction waiter value;
          true
      | exception Unix.Unix_error _ ->
          let error = Error bad_descriptor in
          ignore (Structure_kit.Waiter.resume waiter error : bool);
          true)

let attempt { direction; refer; _ } found =
  let owner = refer () in
  let look () = look (Owner.descr owner) direction in
  Fun.protect ~finally:(fun () -> Owner.leave owner) @@ fun () ->
  if Owner.using "poll" owner look then Some found
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
    from_outside = true;
    how =
      By_hand
        {
          attempt = (fun t () -> attempt t ());
          enlist = (fun t waiter -> enlist t waiter ());
          withdraw;
        };
  }

let wait ~is_closing owner direction =
  let refer () =
    Owner.refer owner;
    owner
  in
  let fd = Owner.descr owner in
  Structure_kit.wait readiness { direction; refer; fd; is_closing } ()

(* No task can be suspended where an event is looked at; to close takes a moment. *)
let descriptor fd direction =
  let wait (_ : _ Concord.Promise.t) = Thread.yield () in
  let refer () = Owner.find ~wait "poll" fd and is_closing () = false in
  { direction; refer; fd; is_closing }

let evt fd direction = Event.make readiness (descriptor fd direction) ()

(* What the resumed task finds goes into a fresh cell, so that the event can be performed
   any number of times. *)
let tentative_evt fd direction f =
  let operation =
    {
      Structure_kit.default with
      name = "Concord_aio";
      from_outside = true;
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

(* --- Closing -------------------------------------------------------------- *)

(* The loops of this thread let go at once. One that is in its poll cannot: then this is a
   signal handler, for which nothing waits. *)
let let_go () =
  match Atomic.get (Domain.DLS.get loops) with
  | [] -> true
  | loops ->
      let thread = this_thread () in
      List.for_all
        (fun { poller; thread = its; _ } ->
          its <> thread || Poller.let_go poller)
        loops

let await_closed closed =
  match Concord.Promise.peek closed with
  | Some _ -> ()
  | None -> (
      if let_go () then
        try
          Concord.Tools.Suspend.protect (fun () ->
              ignore (Concord.Promise.await closed : exn option))
        with e when Concord.Private.Reach.is_refusal e -> ())

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
      poll = (fun () -> Poller.poll poller ~block:false);
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
    Structure_kit.update all_loops remove;
    Structure_kit.update spares (List.cons poller)
  in
  Fun.protect ~finally:leave (fun () -> Concord.Private.Fifo.run_polled enter f)

let run f =
  match Host_kit.probe { passing = ignore } with
  | Suspends -> Concord_fifo.run f
  | Parks -> run_here f
