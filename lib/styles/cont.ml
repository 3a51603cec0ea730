open Effect.Deep

type 'a t =
  | Captured : ('a, unit) continuation -> 'a t
  | Fresh : unit Prompt.meaning * (unit -> unit) -> unit t

type _ Effect.t += Callcc : ('a t -> 'a) -> 'a Effect.t

exception Throw : 'a t * ('a, exn) result -> exn

let throw k v = raise_notrace (Throw (k, Ok v))
let throw_exn k e = raise_notrace (Throw (k, Error e))

(* To be called last, so that no stack lies below the continuation but that of [run]. *)
let rec go_on : type a. a t -> (a, exn) result -> unit =
 fun k outcome ->
  match (k, outcome) with
  | Captured stack, Ok v -> continue stack v
  | Captured stack, Error e -> discontinue stack e
  | Fresh _, Error e -> raise e
  | Fresh (meaning, f), Ok () -> start meaning f

and start { Prompt.meaning } f =
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Callcc f ->
        Some
          (fun stack ->
            let k = Captured stack in
            match f k with
            | v -> go_on k (Ok v)
            | exception Throw (k, outcome) -> go_on k outcome
            | exception e -> go_on k (Error e))
    | e -> (
        match meaning e with
        | None -> None
        | Some body ->
            Some
              (fun stack ->
                let k = Captured stack in
                match
                  body (fun outcome -> raise_notrace (Throw (k, outcome)))
                with
                | () -> ()
                | exception Throw (k, outcome) -> go_on k outcome))
  and exnc = function
    | Throw (k, outcome) -> go_on k outcome
    | e -> Printexc.(raise_with_backtrace e (get_raw_backtrace ()))
  in
  match_with f () { retc = Fun.id; exnc; effc }

let no_meaning = { Prompt.meaning = (fun _ -> None) }
let run f = start no_meaning f
let fresh ?(meaning = no_meaning) f = Fresh (meaning, f)

let callcc f =
  try Effect.perform (Callcc f)
  with Effect.Unhandled (Callcc _) ->
    invalid_arg "Cont.callcc: there is no continuation; call it in Cont.run"
