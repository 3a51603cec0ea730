(** The moments at which OCaml runs a signal handler. *)

val signal : int

val with_handler : ((unit -> unit) -> unit) -> ((unit -> unit) -> 'a) -> 'a
(** [with_handler handler f] calls [f send], where [send ()] sends one signal to
    this process. The handler of the signal calls [handler send], which may call
    [send] too, and is then called again at the next moment. At most one signal
    is pending at a time. The call returns when none is.

    - {b Raises} {!Trial.Not_offered} on Windows. *)
