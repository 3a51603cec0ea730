(* A lazy value is computed under an effect handler, its frame. A frame handles no effect,
   but it sees each effect that the computation performs. So a task can find the lazy values
   on its own stack (the first part below). The second part finds out whether tasks wait for
   each other's lazy values in a cycle. *)
type turn = Settled | Yours

type 'a state =
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace
  | Unforced of 'a computation * watchers
  | Forcing of {
      computation : 'a computation;
      by : Holders.t;
      waiters : (Holders.t, turn) Waiters.t;
      watchers : watchers;
      need : need;
    }

and watchers = (unit, unit) Waiters.t

(* [need], of one wait of a task that is itself forcing lazy values

   State   Left by   To     By whom
   Some t  ended     None   the task that waits for [t]; nothing is allocated there
   None    never (terminal) *)
and need = any option Atomic.t

and 'a computation = {
  compute : unit -> 'a;
  restarts : exn -> bool;
  failed_before : exn option;
  mutable sought : sought;
}

(* The effects for which a frame looks. [Refused] means that code in the computation had to
   wait, and its host refused. [Sought] means that the frame looks for this effect, and [Seen]
   that the effect has passed. The boolean is [true] if the frame was [Refused] before. Only
   code on the stack above the computation uses this, and the task that runs the
   computation. *)
and sought =
  | Nothing
  | Refused
  | Sought : 'b Effect.t * bool -> sought
  | Seen of bool

and 'a t = 'a state Atomic.t
and any = Any : 'a t -> any

let make compute ~restarts =
  Atomic.make
    (Unforced
       ( { compute; restarts; failed_before = None; sought = Nothing },
         Waiters.empty ))

(* --- The stack ------------------------------------------------------------ *)

type frame = Frame : 'a t * 'a computation -> frame
type _ Effect.t += Enclosing : frame list ref -> unit Effect.t
type passing = Passing : 'b Effect.t -> passing

(* Finds the frames that see an effect pass, where the library may perform no effect of its
   own. Each frame looks at all collections under way. It compares the thread too, because an
   effect that is a constant may pass frames in other threads at the same time. *)
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
  Backtrace.finally
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

(* Keeps the backtrace, which is still that of the computation. *)
let pass_exception e = raise_notrace e

let see (type a b) (t : a t) (computation : a computation)
    (effect_ : b Effect.t) =
  match effect_ with
  | Suspend.Ask { question = Enclosing frames; _ } ->
      (* The frame doesn't handle this effect, but only adds itself and lets the effect pass.
         If it handled it, continuations would refer to one another, and the garbage collector
         would overflow its stack. *)
      frames := Frame (t, computation) :: !frames
  | Suspend.Ask { question = Reach.Refusing; _ } ->
      computation.sought <- Refused
  | _ -> (
      (match computation.sought with
      | Sought (sought, refused) when Identity.equal sought effect_ ->
          computation.sought <- Seen refused
      | Nothing | Refused | Sought _ | Seen _ -> ());
      match Atomic.get collections with
      | [] -> ()
      | collections ->
          add_to_collections (Frame (t, computation)) effect_ collections)

(* Unbroken. If [see] raises, the exception is raised in the code that performs the effect.
   Otherwise that code would never be unwound. *)
let rec raise_in_effect e =
  match Some (fun k -> Effect.Deep.discontinue k e) with
  | raising -> raising
  | exception (_ : exn) -> Sys.opaque_identity (raise_in_effect e)

let run t computation =
  let effc effect_ =
    match see t computation effect_ with
    | () -> None
    | exception e -> raise_in_effect e
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

let no_need : need = Atomic.make None
let need t : need = Atomic.make (Some (Any t))

(* The caller's task forces [t], so no other task leaves the state [Forcing]. *)
let declare need (Frame (t, _)) =
  Atomically.update t @@ function
  | Forcing f -> Forcing { f with need }
  | Value _ | Failed _ | Unforced _ -> assert false

let end_need need = Atomic.set need None
let is_frame t (Frame (forced, _)) = Identity.equal forced t

(* The need of [t] at the moment when it was read. *)
let needed_by t =
  match Atomic.get t with
  | Forcing { need; _ } -> need
  | Value _ | Failed _ | Unforced _ -> no_need

(* Follows the needs from [t], and returns them if they lead to one of the frames. For a moment
   there may be a cycle without the caller, until one of its tasks has noticed it. So the
   search stops when it returns to a value where it was before. It compares each value with
   [mark], which is moved forward after 1, 2, 4, ... steps (Brent's algorithm). *)
let path frames t =
  let rec go (Any t as here) needs mark steps limit =
    if List.exists (is_frame t) frames then Some needs
    else
      let need = needed_by t in
      match Atomic.get need with
      | None -> None
      | Some (Any next as there) ->
          let (Any marked) = mark in
          let needs = need :: needs in
          if Identity.equal next marked then None
          else if steps < limit then go there needs mark (steps + 1) limit
          else go there needs here 1 (2 * limit)
  in
  go (Any t) [] (Any t) 1 1

let holds need = Option.is_some (Atomic.get need)

(* While the search is under way, a task on the path may be cancelled after the search has
   passed it. Then other tasks may begin to wait further on, although there never was a cycle.
   So this checks each need once more. A need that has ended never holds again. So if all of
   them still hold after the whole path was read, there was a moment when all held at once. *)
let leads_to frames t =
  match path frames t with
  | None -> false
  | Some needs -> List.for_all holds needs

let while_needed t frames f =
  let need = need t in
  let needed () =
    List.iter (declare need) frames;
    f ()
  in
  Backtrace.finally needed ~finally:(fun () -> end_need need)
