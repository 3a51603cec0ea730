(** Fibers that look whether they were resumed, before they sleep. *)

val suspend :
  Picos.Fiber.t -> ('a Concord.Tools.Suspend.resumer -> 'a option) -> 'a
(** As a plug-in's [suspend], for the calling fiber, which is given. *)
