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

let here ?domain t =
  let domain = or_this domain in
  if t.domain = domain then t else { t with domain }

let to_string { host; name; _ } =
  if host = "" then name else Printf.sprintf "%s, %s" host name

let answer (type a) (question : a Effect.t) ~(otherwise : a) (who : unit -> t) :
    a =
  match question with Who -> Some (who ()) | _ -> otherwise

let last_number = Atomic.make 0
let new_number () = 1 + Atomic.fetch_and_add last_number 1
let numbered name number = name ^ " " ^ string_of_int number
