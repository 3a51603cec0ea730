(** The names of signals. This module needs no C, unlike {!Caught_signals}, so
    it links none. *)

val find : int -> string option
(** ["SIGTERM"] for [Sys.sigterm]. *)

val with_number : string option -> int -> string
(** [with_number name signal] is ["SIGKILL (-7)"], or ["signal 64"] without a
    name. *)

val name_and_number : int -> string
(** [name_and_number signal] is the same, for a signal of [Sys]. *)
