exception Elsewhere

type t = {
  name : string;
  recognises : Domain_local_await.t -> bool;
  suspend : 'a. ((('a, exn) result -> bool) -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
}

(* Grows only, and only while libraries are initialised. *)
let plugins : t array Atomic.t = Atomic.make [||]
let all () = Atomic.get plugins

let rec add plugin =
  let before = Atomic.get plugins in
  let after = Array.append before [| plugin |] in
  if not (Atomic.compare_and_set plugins before after) then add plugin
