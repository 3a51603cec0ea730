open Effect.Deep

type 'a t =
  | Captured : ('a, unit) continuation -> 'a t
  | Fresh : unit Prompt.meaning * (unit -> unit) -> unit t

type _ Effect.t +=
  | Callcc : ('a t -> 'a) -> 'a Effect.t
  | Leave : ('a t -> unit) -> 'a Effect.t

exception Throw : 'a t * ('a, exn) result -> exn

let throw k v = raise_notrace (Throw (k, Ok v))
let throw_exn k e = raise_notrace (Throw (k, Error e))

(* It must be a tail call, so that only the stack of [run] is below the continuation. *)
let rec go_on : type a. a t -> (a, exn) result -> unit =
 fun k outcome ->
  match (k, outcome) with
  | Captured stack, Ok v -> continue stack v
  | Captured stack, Error e -> discontinue stack e
  | Fresh _, Error e -> raise e
  | Fresh (meaning, f), Ok () -> start meaning f

and exnc = function
  | Throw (k, outcome) -> go_on k outcome
  | e -> Printexc.(raise_with_backtrace e (get_raw_backtrace ()))

and leave body = match body () with () -> () | exception e -> exnc e

and start ({ Prompt.meaning } as meanings) f =
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Callcc f ->
        (* [f] runs on a stack of its own, so that it may call [callcc] again. *)
        Some
          (fun stack ->
            let k = Captured stack in
            start meanings (fun () ->
                match f k with
                | v -> throw k v
                | exception (Throw _ as thrown) -> raise_notrace thrown
                | exception e -> throw_exn k e))
    | Leave f -> Some (fun stack -> leave (fun () -> f (Captured stack)))
    | e -> (
        match meaning e with
        | None -> None
        | Some body ->
            Some
              (fun stack ->
                let k = Captured stack in
                leave (fun () ->
                    body (fun outcome -> raise_notrace (Throw (k, outcome))))))
  in
  match_with f () { retc = Fun.id; exnc; effc }

let no_meaning = { Prompt.meaning = (fun _ -> None) }
let run f = start no_meaning f
let fresh ?(meaning = no_meaning) f = Fresh (meaning, f)

let refuse () =
  invalid_arg "Cont.callcc: there is no continuation. Call it in Cont.run"

let callcc f =
  try Effect.perform (Callcc f) with Effect.Unhandled (Callcc _) -> refuse ()

let leave f =
  try Effect.perform (Leave f) with Effect.Unhandled (Leave _) -> refuse ()
