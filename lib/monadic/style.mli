(** The two sides of {!Monadic}. *)

(** What all styles have. *)
module type Promises = sig
  type 'a t

  val return : 'a -> 'a t
  val fail : exn -> Printexc.raw_backtrace -> 'a t
  val bind : 'a t -> ('a -> 'b t) -> 'b t

  val try_bind : (unit -> 'a t) -> ('a -> 'b t) -> (exn -> 'b t) -> 'b t
  (** [try_bind f return fail] goes on with [return v] when [f ()] has the value
      [v], or with [fail e] when it has failed with [e]. *)

  val enter : unit -> unit
  (** Called before [suspend] and [wait].
      @raise e
        if the calling thread does not belong to the style, and so cannot
        suspend in it. *)

  val isolate : (unit -> 'a t) -> 'a t
  (** [isolate f] is [f ()]. What the library keeps for the code that it runs
      (its storage, its context) is afterwards as it was, although [f] may have
      been suspended in the middle. *)

  val host : unit -> Host_kit.t option
  (** The calling thread's loop, if it was registered by
      {!Concord.Host_kit.using}. *)
end

(** A library of promises. *)
module type Style = sig
  include Promises

  val suspend :
    protected:bool ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> 'b t) ->
    'b t
  (** [suspend ~protected block go_on] does what a host does, by the contract of
      {!Concord.Suspend}, and then goes on with the outcome. The exception of a
      cancellation is an outcome too, unless [protected]. A cancellation that
      comes after the outcome, or is protected, is lost: see {!Style_with_wait}.
  *)
end

(** A library whose promises can be cancelled, or whose loop calls code until
    there is none left to be called; or that waits for one operation faster than
    by [suspend]. *)
module type Style_with_wait = sig
  include Promises

  val suspend :
    protected:bool ->
    late:(exn -> unit) ->
    cancelled:(exn -> 'b t) ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> 'b t) ->
    'b t
  (** [suspend ~protected ~late ~cancelled block go_on] goes on with the outcome
      of the resumer, or of [block]. If the promise is cancelled while it waits,
      [suspend] goes on with [cancelled e] instead, where [e] is the exception
      of the cancellation. If it is [protected], or has been resumed before,
      [suspend] calls [late e] at once, and goes on with the outcome. *)

  val wait :
    late:('b -> exn -> 'b t) ->
    ('t, 'x, 'a) Structure_kit.operation ->
    't ->
    ('x, 'a) Structure_kit.waiter ->
    ('a -> 'b) ->
    'b t
  (** [wait ~late operation t waiter result] does that with
      [Structure_kit.block operation t waiter], unprotected. It gives
      [result v], where [v] is the outcome, or goes on with [late (result v) e]
      if it was cancelled after it had been resumed; or it fails, after
      [Structure_kit.withdraw operation t waiter].

      [result] only changes the type of what it is given, and is called by the
      thread that resumes. *)

  val cancel : 'a t -> unit
  (** Cancels what the promise waits for. *)

  val at_once : int ref
  (** How many operations may still be done at once before {!turn} is asked:
      each that does not wait takes one. Otherwise tasks whose operations never
      wait would stop the loop. *)

  val turn : unit -> unit t option
  (** Asked before an operation when {!at_once} is used up. [None]: the
      operation is begun now. Else it is begun after that promise, which is
      resolved, or cancelled, when others have had their turn. *)
end

(** All structures, in that style. *)
module type S = sig
  type 'a promise
  (** Of the style's library. *)

  val direct : (unit -> 'a) -> 'a promise
  (** [direct f] runs [f ()] up to where it suspends, if it does. The rest is
      done when the operation has been resumed; meanwhile others run. If [f]
      raises, the promise fails with that.

      - {b Cancelled} while it waits: the host's exception is raised in [f], and
        again by each operation in [f] that has to wait from then on, except in
        {!Concord.Suspend.protect}. A cancellation that comes in there, or after
        the operation was resumed, is raised by the next operation that has to
        wait. If there is none, the promise has the value of [f ()]. (With
        {!Make} it is lost, if the style's library does not repeat it.) *)

  val sync : 'a Event.t -> 'a promise
  (** {!Concord.Event.sync}. *)

  val select : 'a Event.t list -> 'a promise
  (** {!Concord.Event.select}. *)

  val sync_before : float -> 'a Event.t -> 'a option promise
  (** {!Concord.Event.sync_before}. *)

  val loop : 'a Event.t list -> ('a -> 'b option promise) -> 'b promise
  (** {!Concord.Event.loop}, where the function may wait. *)

  (** {2 The structures}

      All functions of each structure. Those that may suspend give a promise
      here; their order, cancellation and cost are those of the direct
      functions. A function argument whose result is a promise (that of
      [with_lock]) may wait. *)

  module Promise : sig
    include module type of struct
      include Promise
    end

    val await : 'a t -> 'a promise
  end

  module Mvar : sig
    include module type of struct
      include Mvar
    end

    val put : 'a t -> 'a -> unit promise
    val take : 'a t -> 'a promise
    val read : 'a t -> 'a promise
    val swap : 'a t -> 'a -> 'a promise
    val modify : 'a t -> ('a -> 'a * 'b) -> 'b promise
  end

  module Lazy : sig
    include module type of struct
      include Lazy
    end

    val force : 'a t -> 'a promise
    (** The computation runs as in {!direct}. *)

    val force_val : 'a t -> 'a promise
    (** {!force}. *)
  end

  module Channel : sig
    include module type of struct
      include Channel
    end

    val send : 'a t -> 'a -> unit promise
    val receive : 'a t -> 'a promise

    (** @inline *)
    include Queues.Both with type 'a promise := 'a promise and type 'a t := 'a t
  end

  module Stream : sig
    include module type of struct
      include Stream
    end

    val add : 'a t -> 'a -> unit promise
    val take : 'a t -> 'a promise

    (** @inline *)
    include Queues.Both with type 'a promise := 'a promise and type 'a t := 'a t
  end

  module Mailbox : sig
    include module type of struct
      include Mailbox
    end

    val take : 'a t -> 'a promise

    (** @inline *)
    include Queues.Both with type 'a promise := 'a promise and type 'a t := 'a t
  end

  module Broadcast : sig
    include module type of struct
      include Broadcast
    end

    val receive : 'a subscription -> 'a promise

    (** @inline *)
    include
      Queues.S
        with type 'a promise := 'a promise
         and type 'a t := 'a subscription
         and type 'a sink := 'a t
  end

  module Mutex : sig
    include module type of struct
      include Mutex
    end

    val lock : t -> unit promise

    val with_lock : t -> (unit -> 'a promise) -> 'a promise
    (** [with_lock t f] locks [t], and unlocks it when [f ()] has its value or
        has failed.

        - {b Cancelled} after it was given the lock: [f] is called, and what it
          waits for is cancelled. *)

    val protect : t -> (unit -> 'a promise) -> 'a promise
    (** {!with_lock}, under the name of Stdlib's function. *)
  end

  module Condition : sig
    include module type of struct
      include Condition
    end

    val wait : t -> Mutex.t -> unit promise
    (** - {b Cancelled}: it fails when it has locked the mutex again. If it had
          been signalled, it passes the signal on, to the task that has waited
          longest then. In that it differs from {!Condition.wait}, as the
          promise may have no other wait that could raise the cancellation.
          (After a broadcast too: that may wake a task that began to wait
          later.) *)

    val wait_no_mutex : t -> unit promise

    val loop_no_mutex : t -> (unit -> 'a option) -> 'a promise
    (** The function runs as in {!direct}. *)
  end

  module Semaphore : sig
    module Counting : sig
      include module type of struct
        include Semaphore.Counting
      end

      val acquire : t -> unit promise
    end

    module Binary : sig
      include module type of struct
        include Semaphore.Binary
      end

      val acquire : t -> unit promise
    end
  end

  module Rwlock : sig
    include module type of struct
      include Rwlock
    end

    val read_lock : t -> unit promise
    val write_lock : t -> unit promise
    val read : t -> (unit -> 'a promise) -> 'a promise

    val write : t -> (unit -> 'a promise) -> 'a promise
    (** Both are cancelled as {!Mutex.with_lock}. *)
  end

  module Barrier : sig
    include module type of struct
      include Barrier
    end

    val await : t -> unit promise
  end

  module Latch : sig
    include module type of struct
      include Latch
    end

    val await : t -> unit promise
  end
end
