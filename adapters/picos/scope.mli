(** Fibers that a fiber starts, and that end before it goes on. *)

val open_ : Picos.Fiber.t -> (Concord.Suspend.scope -> 'a) -> 'a
(** A scope ({!Concord.Suspend.scopes}) of the calling fiber, which is given.
    Its tasks are fibers that it spawns. *)
