(** Event queues, for programs made of handlers that are called when something
    has happened. (Section 5.4 of the paper, after the module of that name in
    OCamlnet.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    Make an {e event} by {!val-event}, and add handlers to it. The event happens
    by {!add}, any number of times, each time with a value. {!run} presents
    these values to the handlers, in the order of {!add}.

    {[
      # let system = Equeue.create ()
      val system : Equeue.t = <abstr>
      # let key : char Equeue.event = Equeue.event system
      val key : char Equeue.event = <abstr>
      # Equeue.on key (fun c ->
          print_char c;
          if c = '.' then Terminate else Accept)
      - : unit = ()
      # String.iter (Equeue.add key) "ab.c"
      - : unit = ()
      # Equeue.run system
      ab.
      - : unit = ()
    ]}

    Events of one system may have values of different types. A handler of one
    event is found at once, however many handlers wait for other events. An
    event system is for one thread. *)

type t
(** An event system. *)

type 'a event
(** An event of one system, that happens with values of type ['a]. *)

(** The answer of a handler. *)
type verdict =
  | Reject  (** The event is not for this handler, so the next one is asked. *)
  | Accept  (** The event is handled. *)
  | Terminate  (** The event is handled, and the handler is removed. *)

val create : ?source:(t -> unit) -> unit -> t
(** [create ~source ()] is an event system.

    [source t] is called when all values have been presented. If it adds
    nothing, {!run} ends. *)

val event : t -> 'a event
(** [event t] is a new event.

    O(1). It is collected when it is not used any more. *)

val add : 'a event -> 'a -> unit
(** [add e v] makes [e] happen with [v].

    O(1). Handlers may call it. *)

val on : 'a event -> ('a -> verdict) -> unit
(** [on e f] adds a handler of one event.

    The handlers of an event are asked in the order in which they were added,
    until one does not reject. O(1). *)

val once : 'a event -> ('a -> unit) -> unit
(** [once e f] is [on e f], for a handler that is removed just before [f] is
    called. *)

type any_handler = { handle : 'a. 'a event -> 'a -> verdict }

val on_any : t -> any_handler -> unit
(** [on_any t handler] adds a handler that is asked if no handler of the event
    itself has accepted, in the order in which they were added. If none accepts,
    the event is dropped. *)

val same : 'a event -> 'b event -> ('a, 'b) Type.eq option
(** [same a b] is [Some _] if [a] and [b] are one event. Use it in {!on_any}. *)

val run : t -> unit
(** [run t] presents all values to the handlers, until none is left and the
    source adds nothing.

    - {b Raises} [e] if a handler raises [e]. Then the event counts as handled,
      the handler stays, and the rest is left for the next [run]. *)

val clear : t -> unit
(** [clear t] forgets the values that were not presented, and the handlers of
    {!on_any}. *)
