(** A value that changes, and tasks that follow it.

    {b Stability}: stable.

    Readers see the latest value, and wait for the next change. They may miss
    values in between: a slow reader finds the last one, and nothing is kept for
    it. So a watch suits a configuration, a state, or a progress, where a
    {!Broadcast} suits messages.

    A reader remembers the {!version} that it saw last, and passes it to
    {!changed}. So no change is missed that comes between two calls.

    {[
      # let limit = Watch.create 10
      val limit : int Watch.t = <abstr>
      # let value, seen = Watch.read limit
      val value : int = 10
      val seen : Watch.version = <abstr>
      # Watch.set limit 20; Watch.set limit 30
      - : unit = ()
      # let value, seen = Watch.changed limit ~since:seen
      val value : int = 30
      val seen : Watch.version = <abstr>
      # Event.poll (Watch.changed_evt limit ~since:seen)
      - : (int * Watch.version) option = None
    ]}

    An operation without a {b Suspends} line never suspends and performs no
    effect: signal handlers, finalisers and callbacks may use it. Without a
    {b Cost} line it is O(1). *)

type 'a t
(** A watched value of type ['a]. *)

type version
(** Which value of a watch somebody has seen. It means nothing for another
    watch. *)

exception Closed
(** {!Stream.Closed}. *)

val create : ?name:string -> 'a -> 'a t
(** [create v] has the value [v]. [name] is for reports and for the printer of
    {!Closed}. *)

val get : 'a t -> 'a
(** The latest value, also if [t] is closed. *)

val read : 'a t -> 'a * version
(** The latest value, and its version. *)

val set : 'a t -> 'a -> unit
(** [set t v] replaces the value by [v], and resumes all tasks that wait. It
    counts as a change even if [v] equals the old value.

    - {b Cost}: O(1), and O(n) if [n] tasks wait.

    @raise Closed if [t] is closed. *)

val changed : 'a t -> since:version -> 'a * version
(** [changed t ~since] is the latest value and its version, once that isn't
    [since] any more.

    - {b Suspends} until then.
    - {b Cancelled} while suspended: nothing has changed. The next call with the
      same [since] finds every change that came meanwhile.
    - {b Order}: that of arrival. A task that waits gets the value of the {!set}
      that resumed it, which may be replaced before the task continues.
    - {b Cost}: O(1), also to withdraw (amortised).

    @raise Closed if [t] is closed, and its last value was seen. *)

val changed_evt : 'a t -> since:version -> ('a * version) Event.t
(** The event of {!changed}. *)

val close : 'a t -> unit
(** [close t] says that the value won't change any more. A task that has not
    seen the last value still gets it from {!changed}. All others get {!Closed}.
    To close again does nothing. O(n) for the [n] tasks that wait. *)

val is_closed : 'a t -> bool
(** Was {!close} called? *)

val waiters : 'a t -> int
(** How many tasks wait, for diagnosis. One that was cancelled counts until it
    is unwound. *)
