(** Lwt and Eio on one domain, by Lwt_eio, if that is installed. *)

type t = { run_lwt : 'a. (unit -> 'a Lwt.t) -> 'a }
(** [run_lwt f] makes the calling fiber wait for the promise [f ()]. *)

val run : ((t -> float) -> float) option
(** [run f] calls [f] in a fiber, while the loops of both libraries run as one.
*)
