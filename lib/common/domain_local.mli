(** Values of a domain, read without a call.

    What [Domain.DLS.get] has on the stack, 48 bytes, is a third of what a new
    fiber may use before its stack is copied into a larger one. This remembers
    what that gave, in a table by the domains' numbers. *)

type 'a t

val make : (unit -> 'a) -> 'a t
(** [make create]: each domain has a value of its own, which is what [create]
    gives when the domain asks first. It is forgotten when the domain ends. *)

val get : 'a t -> 'a
(** The value of the calling domain, as [Domain.DLS.get]. *)
