(* The models give no labels, because a model checks what programs run without them. *)

let made ?kind:(_ : string option) ?name:(_ : string option)
    ?holders:(_ : (unit -> Waits.holder list) option) structure =
  structure

let derived ~from:_ part = part
let waited_in ~from:_ part = part
let holding _ (_ : Waits.holder) f = f ()
let describe (_ : Identity.pointer) : string option = None
let raises (_ : exn) _ = ()
let raises_unknown (_ : exn) = ()

let explain ?otherwise:(_ : (exn -> string) option)
    ?of_kind:(_ : (string -> string option) option) (_ : exn) =
  ()

let given =
  {
    Waits.by = { (Who.unknown "") with name = "a task that was given it" };
    since_ns = 0;
    held_at = Printexc.get_callstack 0;
  }
