(** Another thread or domain, which calls the functions that the test gives it.
*)

type t

val thread : unit -> t

val domain : unit -> t
(** Both block all signals. *)

val lasting_domain : unit -> t
(** The same domain each time, which lives until the program ends. A domain that
    ends with ephemerons may crash OCaml 5.4 (ocaml/ocaml#14718), rarely even if
    it clears them before. Those of diagnosis, of Lwt and of pools are such
    ephemerons. *)

val ask : t -> (unit -> unit) -> unit
(** [ask t f] makes it call [f] soon. It handles one function at a time. *)

val join : t -> unit
(** Returns when that call has ended, and raises what [f] raised. *)

val stop : t -> unit
