(** Running a task on a stack of its own, with one handler for all tasks.

    This is {!Effect.Deep.match_with}, except for one thing. The handler that
    Stdlib installs may run a signal handler before it has passed the
    continuation on. If that one raises, the continuation is dropped: the task
    neither goes on nor is unwound. Here nothing comes between the effect and
    {!handler.performed}. (The bytecode interpreter runs signal handlers there
    too.)

    It takes the primitives of Stdlib's own module, as they are in OCaml 5.1 to
    5.4. With a version that it does not know it is Stdlib's [match_with]. *)

type last_fiber

type handler = {
  returned : unit -> unit;
  raised : exn -> unit;
  handles : 'a. 'a Effect.t -> bool;
      (** For unknown versions: [false] if [performed] would {!reperform} it. *)
  performed :
    'a. 'a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit;
      (** First it must {!accept} the continuation, or {!reperform}. *)
}

val run : handler -> ('x -> unit) -> 'x -> unit
(** [run handler f x] is
    [Effect.Deep.match_with f x { retc = handler.returned; ... }]. *)

val accept : ('a, unit) Effect.Deep.continuation -> last_fiber -> unit

external reperform :
  'a Effect.t -> ('a, unit) Effect.Deep.continuation -> last_fiber -> unit
  = "%reperform"
(** Passes an effect on to the next handler. To be called last. *)
