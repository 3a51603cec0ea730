(** Reports on a signal: {!Concord.Tools.Debug.dump_on_signal}. *)

type form =
  | Text  (** On the standard error. *)
  | Json of string  (** In this file, which each report replaces. *)

val dump_on : ?form:form -> int -> unit
