(** A changing value, and tasks waiting for the next change.

    {b Stability}: stable.

    Use a watch for a configuration, a state or a progress. Readers see the
    latest value, and may miss the values in between. Nothing is kept for a slow
    reader. If readers must see all values, use a {!Broadcast}.

    A reader remembers the {!version} it saw last and passes it to {!changed}.
    This way, it doesn't miss a change between two calls.

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

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio},
    {{!/concord/lwt}Lwt} and {{!/concord/async}Async}. *)

type 'a t
(** A watched value of type ['a]. *)

type version
(** The version of a watched value. Don't use it with another watch, because it
    means nothing there. *)

exception Closed
(** The same exception as {!Stream.Closed}. *)

val create : ?name:string -> 'a -> 'a t
(** [create v] returns a watch whose value is [v]. Reports and the printer of
    {!Closed} call it by its [name]. *)

val get : 'a t -> 'a
(** [get t] returns the latest value, even if [t] is closed. *)

val read : 'a t -> 'a * version
(** [read t] returns the latest value and its version. *)

val set : 'a t -> 'a -> unit
(** [set t v] replaces the value by [v] and resumes all waiting tasks, in the
    order in which they arrived. This counts as a change even if [v] equals the
    old value.

    - {b Raises} {!Closed} if [t] is closed. *)

val changed : 'a t -> since:version -> 'a * version
(** [changed t ~since] waits until the version is no longer [since], and returns
    the latest value and its version.

    If a task had to wait, it gets the value of the {!set} that resumed it, even
    if the value is replaced before the task continues.

    - {b Suspends} while the version is [since].
    - {b Cancelled} while suspended, it has changed nothing. If you call it
      again with the same [since], you don't miss a change.
    - {b Raises} {!Closed} if [t] is closed and the version is [since]. *)

val try_changed : 'a t -> since:version -> ('a * version) option
(** [try_changed t ~since] returns the latest value and its version, or [None]
    if the version is [since].

    - {b Raises} {!Closed} as {!changed} does. *)

val changed_evt : 'a t -> since:version -> ('a * version) Event.t
(** [changed_evt t ~since] is the event of {!changed}. *)

val close : 'a t -> unit
(** [close t] announces that the value won't change any more.

    If a task has not seen the last value, {!changed} still returns it.
    Otherwise {!changed} raises {!Closed}. A second call does nothing. *)

val is_closed : 'a t -> bool
(** [is_closed t] is [true] once {!close} was called. *)

val waiters : 'a t -> int
(** [waiters t] is the number of waiting tasks, for diagnosis. *)
