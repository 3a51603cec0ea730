(** Fibers that spin before they sleep. *)

val suspend :
  Picos.Fiber.t -> ('a Concord.Tools.Suspend.resumer -> 'a option) -> 'a
(** A plug-in's [suspend], for the calling fiber, which is given. *)
