type turn = Settled | Yours

type 'a state =
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace
  | Unforced of 'a computation * watchers
  | Forcing of {
      computation : 'a computation;
      waiters : (unit, turn) Waiters.t;
      watchers : watchers;
      needs : any option;
    }

and watchers = (unit, turn) Waiters.t

and 'a computation = {
  compute : unit -> 'a;
  restarts : exn -> bool;
  mutable sought : sought;
}

(* Used only by code on the stack above the computation, and by the task that runs it.
   The boolean: it was [Refused] before. *)
and sought =
  | Nothing
  | Refused
  | Sought : 'b Effect.t * bool -> sought
  | Seen of bool

and 'a t = 'a state Atomic.t
and any = Any : 'a t -> any

let make compute ~restarts =
  Atomic.make
    (Unforced ({ compute; restarts; sought = Nothing }, Waiters.empty))

(* --- The stack ------------------------------------------------------------ *)

type frame = Frame : 'a t * 'a computation -> frame
type _ Effect.t += Enclosing : frame list ref -> unit Effect.t
type passing = Passing : 'b Effect.t -> passing

(* Which frames see an effect pass, where no effect of ours may be performed: each
   of them looks at all collections under way. An effect that is a constant may pass
   frames in other threads at the same time. *)
type collection = {
  thread : int;
  mutable effect_ : passing option;
  mutable passed : frame list;
}

let thread () = Thread.id (Thread.self ())
let collections : collection list Atomic.t = Atomic.make []

let collect reach =
  let mine = { thread = thread (); effect_ = None; passed = [] } in
  let reaching effect_ =
    mine.effect_ <- Some effect_;
    mine.passed <- []
  in
  Atomically.update collections (List.cons mine);
  Fun.protect
    (fun () -> reach reaching)
    ~finally:(fun () ->
      Atomically.update collections (List.filter (fun other -> other != mine)));
  List.rev mine.passed

let[@inline never] add_to_collections frame effect_ collections =
  let add collection =
    match collection.effect_ with
    | Some (Passing sought)
      when Identity.equal sought effect_ && collection.thread = thread () ->
        collection.passed <- frame :: collection.passed
    | Some _ | None -> ()
  in
  List.iter add collections

(* Does not touch the backtrace, which is still that of the computation. *)
let pass_exception e = raise_notrace e

let run (type a) (t : a t) (computation : a computation) =
  let effc (type b) (effect_ : b Effect.t) :
      ((b, a) Effect.Deep.continuation -> a) option =
    match effect_ with
    | Suspend.Ask { question = Enclosing frames; _ } ->
        (* Not handled: continuations that hold one another make the collector
           overflow its stack. *)
        frames := Frame (t, computation) :: !frames;
        None
    | Suspend.Ask { question = Reach.Refusing; _ } ->
        computation.sought <- Refused;
        None
    | _ ->
        (match computation.sought with
        | Sought (sought, refused) when Identity.equal sought effect_ ->
            computation.sought <- Seen refused
        | Nothing | Refused | Sought _ | Seen _ -> ());
        (match Atomic.get collections with
        | [] -> ()
        | collections ->
            add_to_collections (Frame (t, computation)) effect_ collections);
        None
  in
  Effect.Deep.match_with computation.compute ()
    { retc = Fun.id; exnc = pass_exception; effc }

let is_refused c =
  match c.sought with
  | Nothing -> false
  | Refused -> true
  | Sought (_, refused) | Seen refused -> refused

let stop_seeking c = c.sought <- (if is_refused c then Refused else Nothing)

let was_refused c =
  let refused = is_refused c in
  c.sought <- Nothing;
  refused

let seek frames (Passing effect_) =
  List.iter
    (fun (Frame (_, c)) -> c.sought <- Sought (effect_, is_refused c))
    frames

let passed frames =
  let was_seen (Frame (_, c)) =
    let seen = match c.sought with Seen _ -> true | _ -> false in
    stop_seeking c;
    seen
  in
  List.filter was_seen frames

(* --- The graph ------------------------------------------------------------ *)

(* The caller's task forces [t], and nobody else leaves the state [Forcing]. *)
let need needs (Frame (t, _)) =
  Atomically.update t @@ function
  | Forcing f -> Forcing { f with needs }
  | Value _ | Failed _ | Unforced _ -> assert false

let needs frames any = List.iter (need any) frames
let is_frame t (Frame (forced, _)) = Identity.equal forced t

(* What [t] needed when it was read. *)
type edge = Edge : 'a t * any option -> edge

(* There may be a cycle without the caller, for the moment until one of its tasks
   has seen it. So this stops where it was before: at [mark], which is moved
   forward after 1, 2, 4, ... steps. *)
let path frames t =
  let rec go (Any t as here) edges mark steps limit =
    if List.exists (is_frame t) frames then Some edges
    else
      match Atomic.get t with
      | Forcing { needs = Some (Any next as there) as needs; _ } ->
          let (Any marked) = mark in
          let edges = Edge (t, needs) :: edges in
          if Identity.equal next marked then None
          else if steps < limit then go there edges mark (steps + 1) limit
          else go there edges here 1 (2 * limit)
      | Forcing { needs = None; _ } | Value _ | Failed _ | Unforced _ -> None
  in
  go (Any t) [] (Any t) 1 1

(* A need that has ended does not come back: each wait has an option of its own. *)
let still_holds (Edge (t, needs)) =
  match Atomic.get t with
  | Forcing f -> f.needs == needs
  | Value _ | Failed _ | Unforced _ -> false

(* A task on the path may be cancelled after it was passed, and others then begin to
   wait further on: that was never a cycle. What holds after all of the path was
   read held all at once. *)
let leads_to frames t =
  match path frames t with
  | None -> false
  | Some edges -> List.for_all still_holds edges

(* --- Leaving [Forcing] ------------------------------------------------------ *)

let rec settle t outcome =
  match Atomic.get t with
  | Forcing { waiters; watchers; _ } as before
    when Waiters.is_empty waiters && Waiters.is_empty watchers ->
      if not (Atomic.compare_and_set t before outcome) then (* a waiter came *)
        settle t outcome
  | Forcing { waiters; watchers; _ } as before ->
      let forcing = Waiters.round waiters (Ok Settled)
      and watching = Waiters.round watchers (Ok Settled) in
      if Atomic.compare_and_set t before outcome then
        Waiters.resume_both forcing watching
      else (* a waiter came or withdrew *) settle t outcome
  | Unforced _ | Value _ | Failed _ -> assert false (* only the forcer leaves *)

let rec pass_on t =
  match Atomic.get t with
  | Forcing { computation; waiters; watchers; needs = _ } as before ->
      if Waiters.is_empty waiters then
        begin if
          not
            (Atomic.compare_and_set t before (Unforced (computation, watchers)))
        then (* a waiter came or withdrew *) pass_on t
        end
      else
        let w = Waiters.head waiters and waiters = Waiters.tail waiters in
        let after = Forcing { computation; waiters; watchers; needs = None } in
        if
          not
            (Atomic.compare_and_set t before after && Waiter.resume w (Ok Yours))
        then (* a waiter came or withdrew; or [w] refused *) pass_on t
  | Unforced _ | Value _ | Failed _ -> assert false (* only the forcer leaves *)
