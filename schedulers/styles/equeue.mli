(** Event queues: programs made of handlers that are called when something has
    happened. (Section 5.4 of the paper, after the module of that name in
    OCamlnet.)

    {b Stability}: experimental, may change in any release.

    An {e event} is an occasion of which handlers are told. It is made by
    {!val-event}, happens by {!add}, any number of times, each time with a
    value, and is presented to its handlers by {!run}, in the order of {!add}.

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
    event is found at once, however many wait for other events. For one thread.
*)

type t
(** An event system. *)

type 'a event
(** An event of one system, that happens with values of type ['a]. *)

(** What a handler says of the event that it was told of. *)
type verdict =
  | Reject  (** It is not for this handler: the next one is asked. *)
  | Accept  (** It is dealt with. *)
  | Terminate  (** It is dealt with, and the handler is removed. *)

val create : ?source:(t -> unit) -> unit -> t
(** [source t] is called when all that happened has been dealt with. If it adds
    nothing, {!run} is over. *)

val event : t -> 'a event
(** A new event. O(1); what is not used any more is garbage. *)

val add : 'a event -> 'a -> unit
(** [add e v]: [e] has happened, with [v]. O(1). Handlers may call it. *)

val on : 'a event -> ('a -> verdict) -> unit
(** Adds a handler of one event. The handlers of an event are asked in the order
    in which they were added, until one does not reject. O(1). *)

val once : 'a event -> ('a -> unit) -> unit
(** [on e f], for a handler that is removed just before [f] is called. *)

type any_handler = { handle : 'a. 'a event -> 'a -> verdict }

val on_any : t -> any_handler -> unit
(** Adds a handler that is asked about whatever no handler of the event itself
    has accepted, in the order in which they were added. If none accepts, the
    event is dropped. *)

val same : 'a event -> 'b event -> ('a, 'b) Type.eq option
(** Are these one event? For {!on_any}. *)

val run : t -> unit
(** Presents what has happened to the handlers, until nothing is left and the
    source adds nothing.

    - {b Raises} [e] if a handler raises [e]: the event is dealt with, the
      handler stays, and the rest is left for the next [run]. *)

val clear : t -> unit
(** Forgets what has happened, and the handlers of {!on_any}. *)
