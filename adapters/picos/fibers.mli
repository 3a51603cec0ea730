(** Fibers of Picos's schedulers as a host: the plug-in. *)

open Picos

val name : string

val plugin : Concord.Tools.Host_kit.plugin
(** Added when the library is initialised. *)

val who : Fiber.t -> Concord.Tools.Host_kit.Who.t
(** To be called in that fiber. *)

val slot : Concord.Private.Locals.slot
(** Where a fiber has the values of {!Concord.Local}. *)
