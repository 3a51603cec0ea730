(** What Linux's [/proc] says of a running process. *)

val is_visible : int -> bool
(** [false] if there is no [/proc], or not this process in it. *)

val folder_of : int -> string
(** The folder in which the process has its file of events, or will create it.
    The process may see other folders than this one, so its own root and its own
    folder are followed. *)

val inner_pid : int -> int
(** The process's own number for itself. It differs in a container. *)

val handles : int -> number:int -> bool
(** Checks that the process has a handler for this signal, by Linux's number,
    because otherwise the signal would end it. *)

val is_alive : int -> bool
(** [false] if the process has ended, even if it still has its number. *)
