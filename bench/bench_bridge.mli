(** One domain of Lwt and one of Eio that exchange messages: through Concord's
    structures, through pipes, and both libraries on one domain by Lwt_eio where
    that is installed. *)

val group : Case.group
