(** The report of [concord-trace --waits], for people. *)

val of_found : int -> Finder.found -> string
(** [of_found pid found]. Waits that differ only in the task are shown as one.
*)
