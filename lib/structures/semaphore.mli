(** Counting and binary semaphores for tasks of any hosts.

    {b Stability}: stable.

    Use a semaphore to limit how many tasks do something at once. These are
    drop-ins for Stdlib's [Semaphore.Counting] and [Semaphore.Binary], but
    waiting blocks only the task, and not its thread. For example, at most two
    tasks download at once:

    {[
      # let slots = Semaphore.Counting.make 2
      val slots : Concord.Semaphore.Counting.t = <abstr>
      # let download url =
          Semaphore.Counting.with_permit slots (fun () -> String.length url)
      val download : string -> int = <fun>
      # Tasks.map download [ "a"; "bb"; "ccc" ]
      - : int list = [1; 2; 3]
    ]}

    The {{!/concord/rules}rules of all structures} hold. The
    {{!/concord/descriptions}description} says what each operation does in each
    state.

    See also the pages on {{!/concord/stdlib}Stdlib} and {{!/concord/eio}Eio}.
*)

(** A number of permits, as in Stdlib's [Semaphore.Counting].

    {[
      # let slots = Semaphore.Counting.make 2 in
        Semaphore.Counting.with_permit slots (fun () ->
            Semaphore.Counting.get_value slots)
      - : int = 1
    ]}

    See also the pages on {{!/concord/stdlib}Stdlib} and {{!/concord/eio}Eio}.
*)
module Counting : sig
  type t
  (** A semaphore. *)

  (** {1 Creating} *)

  val make : int -> t
  (** [make n] returns a semaphore with [n] permits.

      Because this is Stdlib's signature, you name it by
      {!Concord.Tools.Debug.val-name}. Reports don't say which tasks have the
      permits, because any task may release one.

      - {b Raises} [Invalid_argument] if [n] is negative. *)

  val make_in_order : int -> t
  (** [make_in_order n] does the same as {!make}, but newcomers never overtake,
      even if a thread is asleep. See {!Concord.Mutex.create_in_order} for the
      costs. *)

  (** {1 One permit} *)

  val acquire : t -> unit
  (** [acquire t] takes a permit.

      - {b Suspends} while there is no permit. *)

  val try_acquire : t -> bool
  (** [try_acquire t] takes a permit and returns [true], or returns [false] if
      there is none. *)

  val release : t -> unit
  (** [release t] gives a permit to the first waiting task. If no task waits, or
      the first one wants more permits ({!acquire_n}), the permit goes back to
      [t].

      - {b Raises} [Sys_error] if there are already [max_int] permits. *)

  val with_permit : t -> (unit -> 'a) -> 'a
  (** [with_permit t f] takes a permit, calls [f ()], and releases the permit
      when [f] returns, raises or is cancelled.

      - {b Suspends} where {!acquire} and [f] do.
      - {b Raises} [e] if [f] raises [e], after the release. *)

  val try_with_permit : t -> (unit -> 'a) -> 'a option
  (** [try_with_permit t f] is [Some v] with the value [v] of {!with_permit}, or
      [None] if {!try_acquire} would return [false]. Then [f] isn't called.

      For example, a server with too many requests answers at once:

      {[
        # let requests = Semaphore.Counting.make 100
        val requests : Concord.Semaphore.Counting.t = <abstr>
        # let respond handle =
            match Semaphore.Counting.try_with_permit requests handle with
            | Some response -> response
            | None -> "503 Service Unavailable"
        val respond : (unit -> string) -> string = <fun>
      ]}

      - {b Suspends} where [f] does, and doesn't wait for a permit.
      - {b Raises} [e] if [f] raises [e], after the release. *)

  val acquire_evt : t -> unit Event.t
  (** [acquire_evt t] is the event of {!acquire}. *)

  (** {1 Several permits at once}

      For example, a service may hold 1 MB of requests. It has a semaphore with
      1,000,000 permits, and each request takes a permit for each byte.

      {[
        # let bytes = Semaphore.Counting.make 1_000_000
        val bytes : Concord.Semaphore.Counting.t = <abstr>
        # Semaphore.Counting.with_permits bytes 800_000 (fun () ->
              Semaphore.Counting.try_acquire_n bytes 300_000)
        - : bool = false
      ]}

      A call takes all of its permits together, or none. Two tasks that need two
      permits each therefore don't end up with one each, waiting for each other.
      You may release the permits together, one by one, or from several tasks.

      Each function raises [Invalid_argument] if [n] is negative. If [n] is 0,
      the task waits for its turn as others do, and takes nothing. *)

  val acquire_n : t -> int -> unit
  (** [acquire_n t n] takes [n] permits.

      - {b Suspends} while there are fewer than [n] permits, and while earlier
        tasks wait. It waits forever if there are never enough permits, because
        [t] doesn't know how many will be released.
      - {b Order}: tasks with smaller requests don't overtake, and neither does
        {!acquire}. A large request doesn't starve, but permits may lie idle
        while it waits. *)

  val try_acquire_n : t -> int -> bool
  (** [try_acquire_n t n] takes [n] permits and returns [true], or returns
      [false] if {!acquire_n} would wait. *)

  val release_n : t -> int -> unit
  (** [release_n t n] releases [n] permits, and gives them to the waiting tasks
      in their order.

      - {b Raises} [Sys_error] if there would be more than [max_int] permits. In
        this case, it releases none. *)

  val with_permits : t -> int -> (unit -> 'a) -> 'a
  (** [with_permits t n f] takes [n] permits, calls [f ()], and releases them
      when [f] returns, raises or is cancelled.

      - {b Suspends} where {!acquire_n} and [f] do.
      - {b Raises} [e] if [f] raises [e], after the release. *)

  val try_with_permits : t -> int -> (unit -> 'a) -> 'a option
  (** [try_with_permits t n f] does the same as {!with_permits}, or returns
      [None] if {!acquire_n} would wait. Then [f] isn't called.

      - {b Suspends} where [f] does.
      - {b Raises} [e] if [f] raises [e], after the release. *)

  val acquire_n_evt : t -> int -> unit Event.t
  (** [acquire_n_evt t n] is the event of {!acquire_n}. *)

  (** {1 Inspecting} *)

  val get_value : t -> int
  (** [get_value t] is the number of available permits. *)

  val waiters : t -> int
  (** [waiters t] is the number of waiting tasks, for diagnosis. *)
end

(** One permit or none, as in Stdlib's [Semaphore.Binary].

    {[
      # let printer = Semaphore.Binary.make true in
        Semaphore.Binary.with_permit printer (fun () ->
            Semaphore.Binary.try_acquire printer)
      - : bool = false
    ]}

    See also the page on {{!/concord/stdlib}Stdlib}. *)
module Binary : sig
  type t
  (** A semaphore. *)

  val make : bool -> t
  (** [make available] returns a semaphore with one permit if [available] is
      [true], and with none otherwise.

      It is named as in {!Counting.make}. Reports don't say which task has the
      permit, because another task often releases it. *)

  val make_in_order : bool -> t
  (** [make_in_order available] does the same as {!make}, but newcomers never
      overtake, as in {!Counting.make_in_order}. *)

  val acquire : t -> unit
  (** [acquire t] takes the permit.

      - {b Suspends} while there is no permit. *)

  val try_acquire : t -> bool
  (** [try_acquire t] takes the permit and returns [true], or returns [false] if
      there is none. *)

  val release : t -> unit
  (** [release t] gives the permit to the first waiting task, or back to [t]. If
      there is a permit already, nothing changes. *)

  val acquire_evt : t -> unit Event.t
  (** [acquire_evt t] is the event of {!acquire}. *)

  val waiters : t -> int
  (** [waiters t] is the number of waiting tasks, for diagnosis. *)

  val with_permit : t -> (unit -> 'a) -> 'a
  (** [with_permit t f] takes the permit, calls [f ()], and releases the permit
      when [f] returns, raises or is cancelled.

      - {b Suspends} where {!acquire} and [f] do.
      - {b Raises} [e] if [f] raises [e], after the release. *)

  val try_with_permit : t -> (unit -> 'a) -> 'a option
  (** [try_with_permit t f] is [Some v] with the value [v] of {!with_permit}, or
      [None] if {!try_acquire} would return [false]. Then [f] isn't called.

      - {b Suspends} where [f] does, and doesn't wait for a permit.
      - {b Raises} [e] if [f] raises [e], after the release. *)
end
