(** A task of any host as a fiber of Picos. *)

val as_fiber : (unit -> 'a) -> 'a
(** {!Concord_picos.as_fiber}. *)
