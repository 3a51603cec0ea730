(* An extent is a function that runs under an effect handler, which answers the question
   {!Who.Who} with an identity. The handler also sees other effects pass. If the effect with
   which the caller suspends passes an extent, the extent belongs to the caller's task. *)
type sought = Nothing | Sought : 'b Effect.t -> sought | Seen

(* [sought] is used only by code on the stack above the extent. *)
type t = { who : Who.t; mutable sought : sought }

type _ Effect.t +=
  | Innermost : t option Effect.t
        (** A question, which the innermost extent answers with itself. *)

(* Keeps the backtrace, which is still that of the function. *)
let pass_exception e = raise_notrace e

let run (type a) extent (f : Who.t -> a) =
  let effc (type b) (effect_ : b Effect.t) :
      ((b, a) Effect.Deep.continuation -> a) option =
    match effect_ with
    | Concord_suspend.Ask { question = Who.Who; _ } ->
        Some (fun k -> Effect.Deep.continue k (Some extent.who))
    | Concord_suspend.Ask { question = Innermost; _ } ->
        Some (fun k -> Effect.Deep.continue k (Some extent))
    | _ ->
        (match extent.sought with
        | Sought sought when Identity.equal sought effect_ ->
            extent.sought <- Seen
        | Nothing | Sought _ | Seen -> ());
        None
  in
  let ended () = Identity.release extent.who.identity in
  let retc v =
    ended ();
    v
  and exnc e =
    ended ();
    pass_exception e
  in
  Effect.Deep.match_with f extent.who { retc; exnc; effc }

let last_number = Atomic.make 0

let fresh host =
  let n = 1 + Atomic.fetch_and_add last_number 1 in
  let name = Printf.sprintf "a task, the holder %d" n in
  { who = Who.make_strong ~host ~name (ref ()); sought = Nothing }

(* The extent that has given the caller the identity [who]. It belongs to the caller's task, or
   to a task around the caller's scheduler. *)
let innermost who =
  if not (Who.is_known who) then None
  else
    match Reach.question Innermost ~otherwise:None with
    | Some (Some extent) when Who.same extent.who who -> Some extent
    | Some _ | None -> None

(* If a task suspends, its effect passes the task's own extent, but no extent around its
   scheduler. *)
let is_of_caller extent =
  let passing effect_ = extent.sought <- Sought effect_ in
  let is_seen () =
    let seen = extent.sought = Seen in
    extent.sought <- Nothing;
    seen
  in
  match Asking.probe { passing } with
  | Suspends -> is_seen ()
  | Parks ->
      extent.sought <- Nothing;
      false
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      extent.sought <- Nothing;
      Printexc.raise_with_backtrace e backtrace

let within f =
  let who = Identify.task () in
  if not (Who.is_known who) then run (fresh who.host) f
  else
    match innermost who with
    | Some extent when not (is_of_caller extent) -> run (fresh who.host) f
    | Some _ | None -> f who

let task () =
  let who = Identify.task () in
  if Option.is_none (innermost who) then who else Who.unknown who.host

let is_certain (who : Who.t) =
  who.host <> ""
  ||
  match Asking.probe { passing = ignore } with
  | Suspends -> false
  | Parks -> true
