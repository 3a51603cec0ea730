module Atomically = Concord.Private.Atomically
module Structure_kit = Concord.Tools.Structure_kit
module Event = Concord.Event
module Host_kit = Concord.Tools.Host_kit

(* --- Loops that poll themselves ------------------------------------------- *)

type loop = {
  thread : int;
  poller : Poller.t;
  is_innermost : unit -> bool;
      (** Whether the caller is a task of this loop, and no other scheduler runs
          in that task. *)
}

(* Each thread adds and removes only its own loops. *)
let loops : loop list Atomic.t = Atomic.make []

(* The loops of the calling thread, innermost first. *)
let own_loops () =
  match Atomic.get loops with
  | [] -> []
  | loops ->
      let this = Thread.id (Thread.self ()) in
      List.filter (fun { thread; _ } -> thread = this) loops

let poller () =
  match own_loops () with
  | { is_innermost; poller; _ } :: _ when is_innermost () -> poller
  | _ -> Shared_poller.get ()

(* This and [waiting] are for tests. *)
let has_thread () = Option.is_some (Shared_poller.served ())

let waiting () =
  let of_loop { poller; _ } = Poller.waiting poller in
  let of_loops = List.map of_loop (Atomic.get loops) in
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
  Native.is_ready fd ~write:(direction = Write)

let is_writable fd = look fd Write

(* Writable means that the attempt to connect has ended, but not how. *)
let is_connected fd =
  is_writable fd
  &&
  match Unix.getsockopt_error fd with
  | Some error -> raise (Unix.Unix_error (error, "connect", ""))
  | None -> (
      match Unix.getpeername fd with
      | (_ : Unix.sockaddr) -> true
      | exception Unix.Unix_error (ENOTCONN, _, _) ->
          (* Other code has taken the error. *)
          raise (Unix.Unix_error (ENOTCONN, "connect", ""))
      | exception Unix.Unix_error _ -> true)

type descriptor = {
  direction : Poller.direction;
  fd : Unix.file_descr;
  refer : unit -> Owner.t;
      (** A new reference to the owner.
          - {b Raises} [Unix.Unix_error] if it is closing. *)
}

let is_ready { direction; refer; _ } =
  let owner = refer () in
  let look () = look (Owner.descr owner) direction in
  Ensure.finally Owner.leave owner (Owner.using "poll" owner) look

let found is_found =
  if is_found then Some ()
  else begin
    (* If the thread of the shared poller can't be started, this raises. [enlist] must not
       raise. *)
    ignore (poller () : Poller.t);
    None
  end

let enlist { direction; refer; _ } waiter =
  match poller () with
  | exception (Unix.Unix_error _ | Sys_error _) -> false
  | poller ->
      begin match refer () with
      | owner -> Poller.enlist poller owner direction waiter ()
      | exception (Unix.Unix_error _ as e) ->
          ignore (Structure_kit.Waiter.resume waiter (Error e) : bool)
      end;
      true

(* A task withdraws on the same loop or thread on which it was enlisted, so this is the same
   poller. *)
let withdraw { fd; _ } _ =
  match poller () with
  | poller -> Poller.count_withdrawn poller fd
  | exception (Unix.Unix_error _ | Sys_error _) -> ()

let operation is_found =
  {
    Structure_kit.default with
    name = "Concord_aio";
    from_outside = true;
    how =
      By_hand { attempt = (fun t () -> found (is_found t)); enlist; withdraw };
  }

let readiness = operation is_ready

(* When the resumed task runs, another one may have read what had come. *)
let event descriptor =
  let confirm () = is_ready descriptor in
  Event.make_by (Tentative confirm) readiness descriptor ()

let wait ?unless ~tried owner direction =
  let refer () =
    Owner.refer owner;
    owner
  in
  let descriptor = { direction; fd = Owner.descr owner; refer } in
  let ready () =
    if tried then Event.make readiness descriptor () else event descriptor
  in
  match unless with
  | None when tried -> Concord.Private.Operation.wait readiness descriptor ()
  | None -> Event.sync (ready ())
  | Some promise -> Event.select [ ready (); Concord.Promise.await_evt promise ]

(* A task can't be suspended while an event is tried. A close takes only a moment, so the
   thread yields until it has ended. *)
let descriptor fd direction =
  let wait (_ : _ Concord.Promise.t) = Thread.yield () in
  { direction; fd; refer = (fun () -> Owner.find ~wait "poll" fd) }

let evt fd direction = event (descriptor fd direction)

(* Each synchronisation has a fresh cell for the value, so that the event can be performed any
   number of times. *)
let tentative_evt fd direction f =
  Event.guard @@ fun () ->
  let found = ref None in
  let finds _ =
    found := f ();
    Option.is_some !found
  in
  let confirm () = Option.is_some !found || finds () in
  Event.wrap
    (Event.make_by (Tentative confirm) (operation finds)
       (descriptor fd direction) ())
    (fun () -> Option.get !found)

(* --- Closing -------------------------------------------------------------- *)

(* Makes the loops of this thread let their files go at once. A loop that is in its poll can't.
   Then the caller is a signal handler on top of it, which must not wait. *)
let let_go () =
  List.for_all (fun { poller; _ } -> Poller.let_go poller) (own_loops ())

let await_closed closed =
  if (not (Concord.Promise.is_resolved closed)) && let_go () then
    ignore (Uncancelled.attempt closed : _ option)

(* --- Running -------------------------------------------------------------- *)

(* A busy loop polls the descriptors after so many turns. *)
let turns_between_spins = 64

let poll_in poller block =
  let resumer _ =
    Poller.wake poller;
    true
  in
  match block resumer with
  | Some () -> ()
  | None -> Poller.poll poller ~block:true

let run_here f =
  let poller = Poller.take () in
  let enter ~is_innermost =
    let thread = Thread.id (Thread.self ()) in
    Atomically.update loops (List.cons { thread; poller; is_innermost });
    {
      Concord.Private.Fifo.wait = poll_in poller;
      poll = (fun () -> Poller.poll poller ~block:false);
      every = turns_between_spins;
      spins = false;
    }
  in
  (* After the loop has ended, nothing serves its poller. So the waits that are left, which
     aren't those of the loop's tasks, move to the shared poller. *)
  let leave () =
    Atomically.update loops (List.filter (fun loop -> loop.poller != poller));
    Poller.move poller ~into:Shared_poller.get
  in
  let run () =
    Ensure.finally (Ensure.completed leave) ()
      (Concord.Private.Fifo.run_polled enter)
      f
  in
  Ensure.finally Poller.give_back poller run ()

let run f =
  match Host_kit.probe { passing = ignore } with
  | Suspends -> Concord_fifo.run f
  | Parks -> run_here f
