(** A box for one value. Putting into a full box waits, and so does taking from
    an empty one.

    {b Stability}: stable.

    Use a box to hand values from task to task, or to protect a value changed by
    several tasks ({!modify}). It is a drop-in for [Lwt_mvar] in direct style,
    and also has the operations of Haskell's [MVar]. Tasks of any hosts can
    share one box.

    {[
      # let box = Mvar.create_empty ()
      val box : '_weak1 Mvar.t = <abstr>
      # Mvar.try_put box "hello"
      - : bool = true
      # Mvar.try_put box "too late"
      - : bool = false
      # Mvar.take box
      - : string = "hello"
      # Mvar.try_take box
      - : string option = None
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state. Tasks waiting to put have one queue, and tasks waiting to take, read,
    swap or modify have another. If a task waits to swap or modify in a sleeping
    thread, newcomers may briefly overtake it, and the tasks behind it ({!Mutex}
    has the details).

    MVars are among the structures of section 3.3 of "Effectively Composing
    Concurrency Libraries", and its section 7 measures them. See also the pages
    on {{!/concord/lwt}Lwt} and {{!/concord/async}Async}. *)

type 'a t
(** A box for one value of type ['a]. *)

(** {1 Creating} *)

val create : ?name:string -> 'a -> 'a t
(** [create v] returns a box with [v] in it. Reports call it by its [name]. *)

val create_empty : ?name:string -> unit -> 'a t
(** [create_empty ()] returns an empty box. Reports call it by its [name]. *)

val create_in_order : ?name:string -> 'a -> 'a t
(** [create_in_order v] does the same as {!create}, but newcomers never overtake
    a task that waits to swap or modify, even if its thread is asleep.
    {!Concord.Mutex.create_in_order} says what that costs. *)

val create_empty_in_order : ?name:string -> unit -> 'a t
(** [create_empty_in_order ()] does the same for an empty box. *)

(** {1 Operations that wait}

    A box is {e held} while the function of {!modify} runs, and briefly while
    another domain hands a value over. *)

val put : 'a t -> 'a -> unit
(** [put t v] puts [v] into [t].

    - {b Suspends} while [t] is full or held, or while other tasks wait to put.
*)

val take : 'a t -> 'a
(** [take t] takes the value out of [t]. Then the first task waiting to put, if
    any, puts its own value.

    - {b Suspends} while [t] is empty or held. *)

val read : 'a t -> 'a
(** [read t] returns the value in [t] and leaves it there.

    - {b Suspends} while [t] is empty or held. *)

val swap : 'a t -> 'a -> 'a
(** [swap t v] replaces the value in [t] by [v] and returns the old value, in
    one step.

    - {b Suspends} while [t] is empty or held. *)

val modify : 'a t -> ('a -> 'a * 'b) -> 'b
(** [modify t f] takes the value [v] out of [t], puts the first component of
    [f v] into [t], and returns the second one. While [f] runs, the box is
    {e held}, so all other tasks wait as if behind a mutex.

    {[
      # let balance = Mvar.create 100 in
        let withdraw n =
          Mvar.modify balance (fun b -> if b < n then (b, false) else (b - n, true))
        in
        let first = withdraw 70 in
        let second = withdraw 70 in
        (first, second, Mvar.read balance)
      - : bool * bool * int = (true, false, 30)
    ]}

    If [f] raises, or is cancelled while it is suspended, the old value is put
    back, and the exception is re-raised.

    - {b Suspends} while [t] is empty or held, and where [f] does. In [f],
      waiting for [t] itself never ends, for example in a second [modify t] (but
      see {!Concord.Tools.Suspend.Never_resumed}).
    - {b Raises} [e] if [f] raises [e].

    While waits are kept ({!Concord.Tools.Debug.keep_waits}), a report says
    which task holds the box. *)

(** {2 Their events} *)

val take_evt : 'a t -> 'a Event.t
(** [take_evt t] is the event of {!take}. *)

val read_evt : 'a t -> 'a Event.t
(** [read_evt t] is the event of {!read}. *)

val put_evt : 'a t -> 'a -> unit Event.t
(** [put_evt t v] is the event of {!put}. *)

val swap_evt : 'a t -> 'a -> 'a Event.t
(** [swap_evt t v] is the event of {!swap}. The warning at {!modify_evt} holds
    here too. *)

val modify_evt : 'a t -> ('a -> 'a * 'b) -> 'b Event.t
(** [modify_evt t f] is the event of {!modify}. [f] runs in the task performing
    the event.

    In a choice, in {!Concord.Event.poll} and in {!Concord.Event.sync_before},
    this isn't a bracket: if a signal handler raises just when the event was
    chosen, the box stays held forever. *)

(** {1 Operations that don't wait}

    These treat a held box as empty, but don't fill it. *)

val try_put : 'a t -> 'a -> bool
(** [try_put t v] puts [v] into [t] and returns [true], or returns [false] if
    {!put} would wait. *)

val try_take : 'a t -> 'a option
(** [try_take t] takes the value out of [t], or returns [None] if {!take} would
    wait.

    {[
      # let box = Mvar.create 'a'
      val box : char Mvar.t = <abstr>
      # Mvar.try_read box
      - : char option = Some 'a'
      # Mvar.try_take box
      - : char option = Some 'a'
      # Mvar.try_read box
      - : char option = None
    ]} *)

val try_read : 'a t -> 'a option
(** [try_read t] returns the value in [t] and leaves it there, or returns [None]
    if {!read} would wait. *)

val is_empty : 'a t -> bool
(** [is_empty t] is [true] if {!take} would wait. *)

val waiters : 'a t -> int
(** [waiters t] is the number of waiting tasks, for tests and diagnosis. *)
