(** A domain of Lwt and a domain of Eio exchange messages through Concord's
    structures or through pipes. If Lwt_eio is installed, they also do so on one
    domain. *)

val group : Case.group
