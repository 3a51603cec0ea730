(** Lwt and Eio on one domain, by Lwt_eio: where that is installed. *)

type t = { run_lwt : 'a. (unit -> 'a Lwt.t) -> 'a }
(** [run_lwt f] waits in a fiber for the promise [f ()]. *)

val run : ((t -> float) -> float) option
(** [run f] calls [f] in a fiber, while the loops of both libraries run as one.
*)
