type verdict = Reject | Accept | Terminate

type t = {
  happened : occurrence Queue.t;
  source : t -> unit;
  mutable any_handlers : any_handler handler list;
}

and occurrence = Occurrence : 'a event * 'a -> occurrence

and 'a event = {
  system : t;
  mutable handlers : ('a -> verdict) handler list;  (** The oldest first. *)
  mutable newest : ('a -> verdict) handler list;
      (** The handlers that came after [handlers], the newest first. *)
  mutable id : 'a Type.Id.t option;  (** Made when it is first needed. *)
}

and any_handler = { handle : 'a. 'a event -> 'a -> verdict }
and 'f handler = { f : 'f; mutable is_there : bool }

let create ?(source = ignore) () =
  { happened = Queue.create (); source; any_handlers = [] }

let clear t =
  Queue.clear t.happened;
  t.any_handlers <- []

(* --- Events ----------------------------------------------------------------- *)

let event system = { system; handlers = []; newest = []; id = None }
let add event v = Queue.push (Occurrence (event, v)) event.system.happened

let id event =
  match event.id with
  | Some id -> id
  | None ->
      let id = Type.Id.make () in
      event.id <- Some id;
      id

let same a b = Type.Id.provably_equal (id a) (id b)

(* --- Handlers --------------------------------------------------------------- *)

let on event f = event.newest <- { f; is_there = true } :: event.newest
let on_any t f = t.any_handlers <- t.any_handlers @ [ { f; is_there = true } ]

(* Call it before an event is presented. Handlers that are added while the event is presented
   don't get it. *)
let in_order event =
  if not (List.is_empty event.newest) then begin
    event.handlers <- event.handlers @ List.rev event.newest;
    event.newest <- []
  end;
  event.handlers

(* It takes no longer than the presentation of the event to the handlers before this one. *)
let[@tail_mod_cons] rec without handler = function
  | [] -> []
  | first :: rest when first == handler -> rest
  | first :: rest -> first :: without handler rest

let once event f =
  let rec handler = { f = last; is_there = true }
  and last v =
    handler.is_there <- false;
    event.handlers <- without handler event.handlers;
    f v;
    Accept
  in
  event.newest <- handler :: event.newest

(* Presents an event to each handler by [ask], until one doesn't reject it. The result is
   [false] if all rejected it. *)
let rec present ask ~remove = function
  | [] -> false
  | handler :: others -> (
      match if handler.is_there then ask handler.f else Reject with
      | Reject -> present ask ~remove others
      | Accept -> true
      | Terminate ->
          handler.is_there <- false;
          remove handler;
          true)

let dispatch t (Occurrence (event, v)) =
  let accepted =
    present
      (fun f -> f v)
      ~remove:(fun handler -> event.handlers <- without handler event.handlers)
      (in_order event)
  in
  if not accepted then
    ignore
      (present
         (fun { handle } -> handle event v)
         ~remove:(fun handler ->
           t.any_handlers <- without handler t.any_handlers)
         t.any_handlers
        : bool)

let rec run t =
  if Queue.is_empty t.happened then t.source t;
  match Queue.take_opt t.happened with
  | None -> ()
  | Some occurrence ->
      dispatch t occurrence;
      run t
