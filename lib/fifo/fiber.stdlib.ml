(* For OCaml before 5.3. The interface is [fiber.mli], and a rule in [dune] chooses the file. *)

open Effect.Deep

let run s =
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    if Handler.handles s e then
      Some
        (fun k ->
          match Host_kit.is_innermost s.host with
          | is_innermost -> Handler.performed s ~is_innermost e k
          | exception another -> Handler.failed s k another)
    else None
  in
  match_with Loop.begin_ s { retc = Handler.ended; exnc = raise; effc }
