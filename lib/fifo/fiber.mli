(** Running a task on a stack of its own, with one handler for all tasks.

    This is {!Effect.Deep.match_with}, except for one thing. The handler that
    Stdlib installs may run a signal handler before it has passed the
    continuation on. If that one raises, the continuation is dropped: the task
    neither goes on nor is unwound. Here nothing comes between the effect and
    {!handler.performed}. (The bytecode interpreter runs signal handlers there
    too.)

    It takes the primitives of Stdlib's own module, as they are in the releases
    5.1 to 5.4 of OCaml. With another version, or if {!check} fails when the
    program starts, it is Stdlib's [match_with]: all is right then but for
    signal handlers that raise. *)

type last_fiber
(** What a handler hands on with a continuation. *)

type handler = {
  returned : unit -> unit;
  raised : exn -> unit;
  handles : 'a. 'a Effect.t -> bool;
      (** [false] if [performed] would {!reperform} the effect. Asked only where
          Stdlib's [match_with] is used. *)
  performed :
    'a. 'a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit;
      (** First it must {!accept} the continuation, or {!reperform}. *)
}

val no_handler : handler
(** Handles no effect. What a task raises is raised by {!run}. *)

val run : handler -> ('x -> unit) -> 'x -> unit
(** [run handler f x] is
    [Effect.Deep.match_with f x { retc = handler.returned; ... }]. *)

val accept : ('a, unit) Effect.Deep.continuation -> last_fiber -> unit
(** To be called before the continuation is used or stored. *)

external reperform :
  'a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit
  = "%reperform"
(** Passes an effect on to the next handler. To be called last. *)

val check : (handler -> (unit -> unit) -> unit -> unit) -> bool
(** Does the function do what {!run} should, with effects that are handled or
    passed on, and with tasks that return or raise? *)
