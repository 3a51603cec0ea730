open Who

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
  entry.number <> number && not (Identity.is_collected entry.who.identity)

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

let this_thread () =
  let thread = Thread.self () in
  let number = Thread.id thread in
  let name () =
    if Domain.is_main_domain () then Printf.sprintf "thread %d" number
    else Printf.sprintf "thread %d of domain %d" number (Domain.self () :> int)
  in
  once (Domain.DLS.get threads) number ~host:"" ~name thread

(* --- Asking ---------------------------------------------------------------------- *)

let asked () =
  match
    Effect.perform (Concord_suspend.Ask { question = Who; otherwise = None })
  with
  | who -> who
  | exception Effect.Unhandled (Concord_suspend.Ask _) -> None

let asked_or otherwise =
  match asked () with Some who -> who | None -> otherwise ()

(* --- Answering for a whole loop ------------------------------------------------ *)

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
