(** Fibers that a fiber starts, and that end before it continues. *)

val open_ : Picos.Fiber.t -> (Concord.Tools.Suspend.scope -> 'a) -> 'a
(** A scope ({!Concord.Tools.Suspend.scopes}) of the calling fiber, which is
    given. Its tasks are fibers that it spawns. *)
