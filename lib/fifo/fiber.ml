(* Each task keeps one block, which is the handler of effects. It has five words.

   If a function ends in a call of an unknown function, and has no polling point on the way to
   it, the compiler adds one at its beginning. [poll_actions] is that polling point, but inside
   an exception handler. *)
let run s =
  match Loop.begin_ s with
  | s -> Handler.ended s
  | effect e, continuation when Handler.handles s e -> (
      match
        Sys.poll_actions ();
        Host_kit.is_innermost s.host
      with
      | is_innermost -> Handler.performed s ~is_innermost e continuation
      | exception another -> Handler.failed s continuation another)
