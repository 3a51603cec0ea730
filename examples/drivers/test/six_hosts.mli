val run : (int -> unit) -> unit
(** [run f] calls [f 1], [f 2] and [f 3] in tasks of Eio, Lwt, Fifo, Domainslib
    and the workers, and [f 1] in a thread, all at once. *)
