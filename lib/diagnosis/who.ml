type t = {
  host : string;
  name : string;
  domain : int;
  identity : Identity.pointer;
}

type _ Effect.t += Who : t option Effect.t

let make ?domain ~host ~name identity =
  let domain = Option.value domain ~default:(Domain.self () :> int) in
  { host; name; domain; identity = Identity.pointer identity }

let same a b = Identity.same_target a.identity b.identity

let of_thread () =
  let thread = Thread.self () in
  let name =
    if Domain.is_main_domain () then
      Printf.sprintf "thread %d" (Thread.id thread)
    else
      Printf.sprintf "thread %d of domain %d" (Thread.id thread)
        (Domain.self () :> int)
  in
  make ~host:"" ~name thread

let unknown host =
  {
    host;
    name = "a task";
    domain = (Domain.self () :> int);
    identity = Identity.nowhere;
  }

let is_known t = not (Identity.is_nowhere t.identity)
let is_gone t = is_known t && Identity.is_collected t.identity

let to_string { host; name; _ } =
  if host = "" then name else Printf.sprintf "%s, %s" host name

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

(* Does not touch the backtrace, which is still that of the function. *)
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
