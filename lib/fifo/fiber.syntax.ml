(* For OCaml 5.3 or later. The interface is [fiber.mli]; a rule in [dune] chooses the file. *)

(* The compiler adds a polling point at the beginning of a function that ends in the call
   of an unknown one, unless there is one on the way. This is that one, inside of an
   exception handler. *)
let[@inline always] poll () = ignore (Sys.opaque_identity (ref ()) : unit ref)

(* Each task keeps the one block that the handler of effects is: five words. *)
let run s =
  match Loop.begin_ s with
  | s -> Handler.ended s
  | effect e, continuation when Handler.handles s e -> (
      match
        poll ();
        Host_kit.is_innermost s.host
      with
      | is_innermost -> Handler.performed s ~is_innermost e continuation
      | exception another -> Handler.failed s continuation another)
