(** Changing an atomic that holds an immutable state. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] by [f s] in one step, unless [f s] is
    [s] itself. If another task was faster, it calls [f] again.

    Use it for rare changes, because it calls an unknown function, which a loop
    of your own doesn't have to do. *)

val update_surely : 's Atomic.t -> ('s -> 's) -> unit
(** [update_surely t f] is {!update}, unbroken. Use it for changes that no other
    code would repeat. [f] must not raise. *)
