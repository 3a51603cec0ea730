exception Closed = Errors.Closed

(* The arguments of [create]. *)
type 'a settings = {
  limit : int;
  make : unit -> 'a;
  validate : 'a -> bool;
  dispose : 'a -> unit;
  keep_after : exn -> bool;
  idle_time : float;
  lifetime : float;
}

(* A resource. It was made in the [epoch] of the pool, and is not used again once the time
   [dies] has come. [until] is the same time, or an earlier one while the resource is idle.
   [holder] is plain because only the task that holds the resource accesses it, and passes the
   resource on by a change of the pool's state. *)
type 'a item = {
  v : 'a;
  epoch : int;
  dies : int;
  until : int;
  mutable holder : Holders.t;
}

(* Resources that tasks use one at a time. [size] counts the resources that exist, and those
   that are being made or disposed of. A task that does that, or that uses a resource, is the
   holder of the resource. The other resources are [idle]. An idle resource is old if its time
   is over, or its epoch isn't the pool's, or the pool is closed.

   [t], the only Atomic here

   State         Left by        To                            By whom
   open, idle    take         * the first one is not idle     any task, the new holder
                 give         * one more is idle              the holder
                 gone         * size - 1                      the holder, after [dispose] or a [make]
                                                              that failed
                 close        * closed                        any task; it then disposes of the idle ones
                 clear        * epoch + 1                     the same; all idle ones are old then
                 take_old       an old one is not idle        any task, which disposes of it
   open, none    take         * size + 1                      any task, while size < limit; it makes one
   is idle       give         * the first taker leaves its queue
                                                              the holder, while tasks wait; the taker
                                                              holds the resource then
                 gone         * the first taker leaves its queue
                                                              the same; the taker makes another one
                 give, gone, close, clear: as above, if no task waits
   closed        give           one more is idle              the holder; it then disposes of the idle
                                                              ones
                 take_old       the first one is not idle     any task, which disposes of it
                 gone         * size - 1                      the holder; at 0 it resumes all [enders]

   Takers enter their queue while none is idle and size = limit. Enders enter theirs until the
   pool is closed and size = 0. Both withdraw. [close] resumes all takers, and also all enders
   if size = 0.

   * linearises the operation. Tasks wait only while all resources are held. So no task
   overtakes them, because a resource that a holder gives back passes to the first of them. If
   that resource is old, the taker itself disposes of it and makes another one.

   [known] are the holders that are known. Each change that makes a task the holder of a
   resource adds it, and each change that ends that removes it. The list is empty unless waits
   are kept for reports. *)
type 'a grant = Idle of 'a item | To_make

(* What most changes leave as it is. [ages] is [false] while no resource can be old. *)
type 'a rare = {
  settings : 'a settings;
  ages : bool;
  epoch : int;
  closed : bool;
  known : Holders.t list;
  enders : (unit, unit) Waiters.t;
}

type 'a state = {
  idle : 'a item list;
  size : int;
  takers : (Holders.t, 'a grant) Waiters.t;
  rare : 'a rare;
}

type 'a t = 'a state Atomic.t

let never _ = false

let check option seconds =
  if Float.is_nan seconds || seconds < 0. then
    invalid_arg
      (Printf.sprintf
         "Pool.create: %s is %g seconds, but must be a number from 0 on" option
         seconds)

let kind = "pool"

let figures t =
  let { idle; size; rare; _ } = Atomic.get t in
  [ Observer.Used (size - List.length idle); Limit rare.settings.limit ]

let create ?name ?(validate = fun _ -> true) ?(dispose = ignore)
    ?(keep_after = never) ?(idle_time = infinity) ?(lifetime = infinity) limit
    make =
  if limit < 1 then
    invalid_arg
      (Printf.sprintf "Pool.create: the limit is %d, but must be at least 1"
         limit);
  check "idle_time" idle_time;
  check "lifetime" lifetime;
  let settings =
    { limit; make; validate; dispose; keep_after; idle_time; lifetime }
  in
  let ages = idle_time < infinity || lifetime < infinity in
  let enders = Waiters.empty in
  let rare =
    { settings; ages; epoch = 0; closed = false; known = []; enders }
  in
  Observer.made ~kind ?name ~figures
    (Atomic.make { idle = []; size = 0; takers = Waiters.empty; rare })

(* --- Steps ----------------------------------------------------------------

   [give_step] and [take_old_step] read the clock. If the driver calls them again, a later time
   is as good. *)

let no_time = max_int

let time_after seconds =
  if seconds = infinity then no_time else Timer.deadline seconds

let[@inline] is_old rare (item : _ item) =
  rare.ages
  && (item.epoch <> rare.epoch
     || (item.until <> no_time && Timer.has_passed item.until))

let[@inline] and_known holder rare =
  if holder == Holders.unknown then rare
  else { rare with known = holder :: rare.known }

let[@inline] without_known holder s =
  if holder == Holders.unknown then s
  else
    let known = List.filter (( != ) holder) s.rare.known in
    { s with rare = { s.rare with known } }

let take_step holder s : _ Step.t =
  if s.rare.closed then Raise Closed
  else
    match s.idle with
    | item :: idle ->
        let rare = and_known holder s.rare in
        Return ({ s with idle; rare }, Idle item)
    | [] when s.size < s.rare.settings.limit ->
        let rare = and_known holder s.rare in
        Return ({ s with size = s.size + 1; rare }, To_make)
    | [] -> Wait

(* If the first taker refuses, it isn't a holder. [otherwise] is the step for the state without
   it. *)
let pass grant otherwise s : _ Step.t =
  let w = Waiters.head s.takers in
  let rare = and_known w.arg s.rare in
  let state = { s with takers = Waiters.tail s.takers; rare } in
  let refused =
    if w.arg == Holders.unknown then Step.Again
    else Then (fun s -> otherwise (without_known w.arg s))
  in
  Hand_over
    { state; waiter = w; outcome = Ok grant; accepted = Step.finished; refused }

let rec serve_idle item s : _ Step.t =
  if Waiters.is_empty s.takers then
    let item =
      if not s.rare.ages then item
      else
        let until = time_after s.rare.settings.idle_time in
        { item with until = Int.min item.dies until }
    in
    Return ({ s with idle = item :: s.idle }, ())
  else pass (Idle item) (serve_idle item) s

let give_step item s = serve_idle item (without_known item.holder s)
let end_ s : _ Step.next = Step.resume_all s.rare.enders (Ok ()) Step.finished

let rec serve_room s : _ Step.t =
  if not (Waiters.is_empty s.takers) then pass To_make serve_room s
  else
    let size = s.size - 1 in
    if s.rare.closed && size = 0 then
      let rare = { s.rare with enders = Waiters.empty } in
      Become ({ s with size; rare }, end_ s)
    else Return ({ s with size }, ())

let gone_step holder s = serve_room (without_known holder s)

let close_step () s : _ Step.t =
  if s.rare.closed then Return (s, ())
  else
    let rare = { s.rare with closed = true } in
    if s.size > 0 then
      Become
        ( { s with rare; takers = Waiters.empty },
          Step.resume_all s.takers Errors.closed Step.finished )
    else
      (* no task waits to take *)
      let rare = { rare with enders = Waiters.empty } in
      Become ({ s with rare }, end_ s)

let clear_step () s : _ Step.t =
  let rare = { s.rare with ages = true; epoch = s.rare.epoch + 1 } in
  Return ({ s with rare }, ())

let take_old_step () s : _ Step.t =
  let rec pick before : _ -> _ Step.t = function
    | item :: idle when s.rare.closed || is_old s.rare item ->
        Return ({ s with idle = List.rev_append before idle }, item)
    | item :: idle -> pick (item :: before) idle
    | [] -> Wait
  in
  pick [] s.idle

let await_step () s : _ Step.t =
  if s.rare.closed && s.size = 0 then Return (s, ()) else Wait

(* --- The waiters ---------------------------------------------------------- *)

let takers change w s = { s with takers = change s.takers w }

let enders change w s =
  { s with rare = { s.rare with enders = change s.rare.enders w } }

let held t =
  let s = Atomic.get t in
  s.size - List.length s.idle

let holders t = Holders.all ~count:(held t) (Atomic.get t).rare.known

let shown t =
  let s = Atomic.get t in
  Printf.sprintf "%d in use of %d%s" (held t) s.rare.settings.limit
    (if s.rare.closed then ", closed" else "")

let operation = { Operation.default with state = shown; spin = Before; holders }

let taking =
  {
    operation with
    name = "Pool.use";
    how =
      By_steps
        {
          word = Fun.id;
          step = take_step;
          queue = takers;
          left = Step.finished;
        };
  }

let obtaining = { taking with name = "Pool.obtain" }

let awaiting =
  {
    operation with
    name = "Pool.await_closed";
    undo = Operation.undo_nothing;
    how =
      By_steps
        {
          word = Fun.id;
          step = await_step;
          queue = enders;
          left = Step.finished;
        };
  }

(* --- Disposing ------------------------------------------------------------

   Unbroken. A resource that a task holds is always in a variable of a function in which the
   next exception leads to [give_step] or [gone_step]. So none of these functions ends in a
   call. *)

(* Raises [e] after [clean t x], whose exception is dropped. *)
let[@inline never] raise_after clean t x e =
  let backtrace = Backtrace.get () in
  (match clean t x with () -> () | exception _ -> ());
  Printexc.raise_with_backtrace e backtrace

(* When this returns or raises, [dispose v] has been called. *)
let rec dispose_of t v =
  match ref false with
  | exception e -> Sys.opaque_identity (raise_after dispose_of t v e)
  | begun -> (
      match
        Suspend.protect (fun () ->
            begun := true;
            (Atomic.get t).rare.settings.dispose v)
      with
      | () -> ()
      | exception e ->
          if !begun then
            Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())
          else Sys.opaque_identity (raise_after dispose_of t v e))

let give_up t holder =
  Step.surely t gone_step holder;
  ()

let[@inline never] discard_of t holder v =
  match dispose_of t v with
  | () -> give_up t holder
  | exception e -> Sys.opaque_identity (raise_after give_up t holder e)

let discard t item = Sys.opaque_identity (discard_of t item.holder item.v)

let dispose_of_one t =
  match Step.attempt t take_old_step () with
  | None -> false
  | Some item ->
      (* the holder that gave it back isn't known any more *)
      item.holder <- Holders.unknown;
      discard t item;
      true

(* Disposes of all old resources, whatever is raised, and then raises the first exception. *)
let rec dispose_of_old t () =
  match dispose_of_one t with
  | false -> ()
  | true -> Sys.opaque_identity (dispose_of_old t ())
  | exception e -> Sys.opaque_identity (raise_after dispose_of_old t () e)

(* --- Using ---------------------------------------------------------------- *)

(* Called by a task that has given back a resource. It disposes of one old resource only, so
   that it isn't delayed by all of them. *)
let dispose_after_use t () =
  let rare = (Atomic.get t).rare in
  if rare.closed then Sys.opaque_identity (dispose_of_old t ())
  else if rare.ages then ignore (Sys.opaque_identity (dispose_of_one t) : bool)

let[@inline never] put_back t item =
  match Step.surely t give_step item with
  | () -> dispose_after_use t ()
  | exception e -> Sys.opaque_identity (raise_after dispose_after_use t () e)

(* Gives back the resource after [f] raised [e]. The caller raises [e], so other exceptions are
   dropped here. *)
let[@inline never] put_back_after t item e =
  match
    match (Atomic.get t).rare.settings.keep_after e with
    | true -> put_back t item
    | false | (exception _) -> discard t item
  with
  | () -> ()
  | exception _ -> ()

(* The epoch is that of the time before [make], because a resource that is made while the pool
   is cleared may be one of those that the program wants to get rid of. *)
let[@inline never] make t holder =
  let { settings; epoch; _ } = (Atomic.get t).rare in
  match
    Holders.taken holder;
    settings.make ()
  with
  | exception e -> Sys.opaque_identity (raise_after give_up t holder e)
  | v -> (
      match
        let dies = time_after settings.lifetime in
        { v; epoch; dies; until = dies; holder }
      with
      | item -> item
      | exception e ->
          let backtrace = Backtrace.get () in
          (match discard_of t holder v with () -> () | exception _ -> ());
          Printexc.raise_with_backtrace e backtrace)

let[@inline never] remake t item =
  let holder = item.holder in
  match dispose_of t item.v with
  | () -> Sys.opaque_identity (make t holder)
  | exception e -> Sys.opaque_identity (raise_after give_up t holder e)

let[@inline never] resource t holder = function
  | To_make -> Sys.opaque_identity (make t holder)
  | Idle item -> (
      if item.holder != holder then item.holder <- holder;
      match
        Holders.taken holder;
        let rare = (Atomic.get t).rare in
        (not (is_old rare item)) && rare.settings.validate item.v
      with
      | true -> item
      | false -> Sys.opaque_identity (remake t item)
      | exception e -> Sys.opaque_identity (raise_after discard t item e))

let[@inline] take operation t holder =
  let grant =
    match Step.attempt t take_step holder with
    | Some grant -> grant
    | None ->
        Holders.waits holder;
        Operation.wait operation t holder
  in
  resource t holder grant

let[@inline] lend t f item =
  match f item.v with
  | result ->
      put_back t item;
      result
  | exception e ->
      let backtrace = Backtrace.get () in
      put_back_after t item e;
      Printexc.raise_with_backtrace e backtrace

let[@inline] use_as t holder f =
  let item = take taking t holder in
  lend t f item

let[@inline never] use_known t f =
  Holding.within ~kind ~ends:(Alone 1) t (use_as t) f

let use t f =
  if Observer.looks_at_takers () then use_known t f
  else use_as t Holders.unknown f

(* The grant is in [resource] before anything polls. *)
let[@inline] try_use_as t holder f =
  match Step.attempt t take_step holder with
  | None -> None
  | Some grant ->
      let item = resource t holder grant in
      Some (lend t f item)

let[@inline never] try_use_known t f =
  Holding.within ~kind ~ends:(Alone 1) t (try_use_as t) f

let try_use t f =
  if Holders.are_known () then try_use_known t f
  else try_use_as t Holders.unknown f

(* [finish] begins with the grant, so nothing in it may poll before the resource is in one of
   the functions above. *)
let use_evt t f =
  let event holder t =
    let holder = Holders.ending (Alone 1) holder in
    let f = Holding.giving_back ~kind ~holder:(fun _ -> holder) t f in
    let finish grant =
      let item = resource t holder grant in
      Sys.opaque_identity (lend t f item)
    in
    Event.make_by (Finish finish) taking t holder
  in
  Holding.event event t

(* --- Leases --------------------------------------------------------------- *)

type 'a lease = { pool : 'a t; item : 'a item; returned : bool Atomic.t }

(* Unbroken between the take and the [match], because nothing is allocated there. *)
let[@inline never] some_leased pool item =
  match Some { pool; item; returned = Atomic.make false } with
  | lease -> lease
  | exception e -> Sys.opaque_identity (raise_after put_back pool item e)

let[@inline] leased pool item =
  match some_leased pool item with
  | Some lease -> lease
  | None -> assert false (* it returns [Some] *)

let obtain t =
  let item = take obtaining t (Holders.ending (Alone 1) (Holders.taker ())) in
  leased t item

let try_obtain t =
  let holder = Holders.ending (Alone 1) (Holders.caller ()) in
  match Step.attempt t take_step holder with
  | None -> None
  | Some grant ->
      let item = resource t holder grant in
      Sys.opaque_identity (some_leased t item)

let obtain_evt t =
  let event holder t =
    let holder = Holders.ending (Alone 1) holder in
    let finish grant =
      let item = resource t holder grant in
      Sys.opaque_identity (leased t item)
    in
    Event.make_by (Finish finish) obtaining t holder
  in
  Holding.event event t

let value { item; _ } = item.v

let returned_twice () =
  invalid_arg
    "Pool.give_back: this lease has ended. Each lease is given back once"

(* Returns [false] if it had ended. *)
let end_ { pool; item; returned } =
  (not (Atomic.exchange returned true))
  && begin
    Holders.gives_back ~kind pool item.holder;
    true
  end

let give_back ~keep ({ pool; item; _ } as lease) =
  if not (end_ lease) then returned_twice ();
  if keep then Sys.opaque_identity (put_back pool item)
  else Sys.opaque_identity (discard pool item)

let give_back_after ({ pool; item; _ } as lease) e =
  if end_ lease then Sys.opaque_identity (put_back_after pool item e)

(* --- Closing -------------------------------------------------------------- *)

(* Disposes of what is old after the change, even if that has raised. *)
let change_and_dispose t step =
  match Step.surely t step () with
  | () -> Sys.opaque_identity (dispose_of_old t ())
  | exception e -> Sys.opaque_identity (raise_after dispose_of_old t () e)

let close t = change_and_dispose t close_step
let clear t = change_and_dispose t clear_step
let trim t = dispose_of_old t ()

let await_closed t =
  match Step.attempt t await_step () with
  | Some () -> ()
  | None -> Operation.wait awaiting t ()

let await_closed_evt t = Event.make awaiting t ()

(* --- Inspecting the pool -------------------------------------------------- *)

let is_closed t = (Atomic.get t).rare.closed
let capacity t = (Atomic.get t).rare.settings.limit
let size t = (Atomic.get t).size
let idle t = List.length (Atomic.get t).idle
let in_use = held

let waiters t =
  let s = Atomic.get t in
  Waiters.length s.takers + Waiters.length s.rare.enders
