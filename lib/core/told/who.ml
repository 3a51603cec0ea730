type t = {
  host : string;
  name : string;
  domain : int;
  identity : Identity.pointer;
  origin : origin option;
}

and origin = { parent : t; forked_at : Printexc.raw_backtrace }

type _ Effect.t += Who : t option Effect.t | Forked : origin -> bool Effect.t

let this_domain () = (Domain.self () :> int)
let or_this = function Some domain -> domain | None -> this_domain ()

let by_pointer ?domain ?origin ~host ~name identity =
  { host; name; domain = or_this domain; identity; origin }

let make ?domain ?origin ~host ~name identity =
  by_pointer ?domain ?origin ~host ~name (Identity.pointer identity)

let make_strong ?domain ~host ~name identity =
  by_pointer ?domain ~host ~name (Identity.strong_pointer identity)

let unknown host = by_pointer ~host ~name:"a task" Identity.nowhere
let same a b = Identity.same_target a.identity b.identity
let is_known t = not (Identity.is_nowhere t.identity)
let has_ended t = is_known t && Identity.is_collected t.identity
let may_be_alive t = not (Identity.is_collected t.identity)

let here ?domain t =
  let domain = or_this domain in
  if t.domain = domain then t else { t with domain }

let to_string { host; name; _ } =
  if host = "" then name else Printf.sprintf "%s, %s" host name

(* --- Made once ----------------------------------------------------------------- *)

type entry = { number : int; who : t }

(* If the numbers of two tasks differ by a multiple of the length, they share an entry, and the
   last one that asked has it. An entry is replaced by one store. If another thread or a signal
   handler lengthens the table meanwhile, the new entry is lost. The task is then described
   again when it asks next. *)
type tasks = { mutable entries : entry array }

let tasks () = { entries = [||] }
let least = 16
let most = 16_384
let nobody = { number = -1; who = unknown "" }
let target number entries = number land (Array.length entries - 1)

(* Does another task that may be alive have the entry? An entry of the same number doesn't
   count. Its task has ended, because the number is in use again. *)
let is_taken number entries =
  let entry = entries.(target number entries) in
  entry.number <> number && may_be_alive entry.who

(* A longer table starts empty. So each task is described once more for each time that the
   length is doubled. *)
let keep tasks number who =
  let length = Array.length tasks.entries in
  if length = 0 then tasks.entries <- Array.make least nobody
  else if length < most && is_taken number tasks.entries then
    tasks.entries <- Array.make (2 * length) nobody;
  let entries = tasks.entries in
  entries.(target number entries) <- { number; who }

let find { entries } number identity =
  if Array.length entries = 0 then None
  else
    let entry = entries.(target number entries) in
    if entry.number = number && Identity.points_to entry.who.identity identity
    then Some entry.who
    else None

let once ?domain ?(origin = fun () -> None) tasks number ~host ~name identity =
  match find tasks number identity with
  | Some who -> here ?domain who
  | None ->
      let origin = origin () in
      let who = make ?domain ?origin ~host ~name:(name ()) identity in
      keep tasks number who;
      who

let threads = Domain.DLS.new_key tasks

let of_thread () =
  let thread = Thread.self () in
  let number = Thread.id thread in
  let name () =
    if Domain.is_main_domain () then Printf.sprintf "thread %d" number
    else Printf.sprintf "thread %d of domain %d" number (this_domain ())
  in
  once (Domain.DLS.get threads) number ~host:"" ~name thread

(* --- Questions ----------------------------------------------------------------- *)

let asked () =
  match
    Effect.perform (Concord_suspend.Ask { question = Who; otherwise = None })
  with
  | who -> who
  | exception Effect.Unhandled (Concord_suspend.Ask _) -> None

let asked_or otherwise =
  match asked () with Some who -> who | None -> otherwise ()

(* --- Answers ------------------------------------------------------------------- *)

let answer (type a) (question : a Effect.t) ~(otherwise : a) (who : unit -> t) :
    a =
  match question with Who -> Some (who ()) | _ -> otherwise

(* [raise_notrace] keeps the backtrace of [f]. *)
let pass_exception e = raise_notrace e

let answering who f =
  let effc (type a) (effect_ : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    match effect_ with
    | Concord_suspend.Ask { question = Who; _ } ->
        Some (fun k -> Effect.Deep.continue k (Some (who ())))
    | _ -> None
  in
  Effect.Deep.match_with f () { retc = Fun.id; exnc = pass_exception; effc }

(* --- Numbers --------------------------------------------------------------------- *)

let last_number = Atomic.make 0
let new_number () = 1 + Atomic.fetch_and_add last_number 1
let numbered name number = name ^ " " ^ string_of_int number
