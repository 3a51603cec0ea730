type t = { host : string; name : string; identity : Identity.pointer }
type origin = { parent : t; forked_at : Stdlib.Printexc.raw_backtrace }

let make ?origin:(_ : origin option) ~host ~name identity =
  { host; name; identity = Identity.pointer identity }

let unknown host = { host; name = "a task"; identity = Identity.nowhere }
let same a b = Identity.same_target a.identity b.identity
let is_known t = not (Identity.is_nowhere t.identity)
let has_ended t = is_known t && Identity.is_collected t.identity
let to_string { name; _ } = name

type _ Effect.t += Who : t option Effect.t | Forked : origin -> bool Effect.t

let here who = who
let new_number () = 1
let numbered name number = name ^ " " ^ string_of_int number
let answer (_ : 'a Effect.t) ~(otherwise : 'a) (_ : unit -> t) = otherwise
