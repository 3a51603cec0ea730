(** A blocking operation as a value.

    An event can be performed later, by tasks of any host, any number of times:
    {!sync} waits for it, {!poll} tries it now. Every blocking operation [x] of
    every structure has its event [x_evt]. (The idea is Reppy's, in Concurrent
    ML.)

    {[
      # let box = Mvar.create 6
      val box : int Mvar.t = <abstr>
      # let answer = Event.wrap (Mvar.take_evt box) (fun n -> 7 * n)
      val answer : int Event.t = <abstr>
      # Event.sync answer
      - : int = 42
      # Event.poll answer
      - : int option = None
    ]} *)

type +'a t
(** An operation that gives a value of type ['a] once it is performed. *)

val sync : 'a t -> 'a
(** [sync t] performs [t].

    - {b Suspends} while [t] must wait; cancellation, order and cost are those
      of the operation.

    @raise e if the operation, or a function given to {!wrap}, raises [e]. *)

val poll : 'a t -> 'a option
(** [poll t] performs [t] if that needs no waiting; else it does nothing and is
    [None]. *)

val always : 'a -> 'a t
(** [always v] is ready at once, with [v]. *)

val wrap : 'a t -> ('a -> 'b) -> 'b t
(** [wrap t f] performs [t], then gives [f v] for its value [v]. [f] runs in the
    task that performs the event, which may suspend there and may be cancelled
    there: [t] has then been performed. *)

(** {2 For whoever writes a structure} *)

type 'a offer
(** One wait, that was not begun. *)

val offer :
  ('t -> 'w -> 'a Suspend.resumer -> 'a option) ->
  ('t -> 'w -> unit) ->
  't ->
  'w ->
  'a offer
(** [offer block withdraw t w] is the wait of the waiter [w] in the structure
    [t], as {!Suspend.wait} would do it: [block] registers [w], as
    {!Suspend.suspend} wants it, and [withdraw] removes it. [withdraw] may be
    called without [block] having been, and if the waiter has been removed by
    others; it is not called twice. *)

val make : poll:(unit -> 'a option) -> offer:(unit -> 'a offer) -> 'a t
(** The event of an operation that can be tried ([poll] performs it if it need
    not wait) and offered ([offer ()] is a new wait). *)
