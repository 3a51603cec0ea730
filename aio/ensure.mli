(** Code that runs even if a signal handler raises.

    A handler may raise wherever OCaml allocates, calls the system or polls. No
    function here does so before or between the calls of its arguments. These
    may poll where they begin, if they loop, or end by calling a function that
    the compiler does not know. *)

val finally : ('t -> unit) -> 't -> ('x -> 'a) -> 'x -> 'a
(** [finally leave t f x] is [f x], and then [leave t], even if [f x] raised. In
    that case an error of the system in [leave t] is ignored. [leave] must not
    poll where it begins. *)

val completed : ('t -> unit) -> 't -> unit
(** [completed f t] calls [f t] again each time that a signal handler raised in
    it, and then raises what the handler raised. So [f t] must do no harm the
    second time.

    - {b Raises} [Unix.Unix_error] and [Sys_error] at once, because they are
      [f]'s. *)
