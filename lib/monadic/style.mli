(** The signature of the structures in monadic style, for {!Monadic}. *)

(** All structures, in monadic style. *)
module type S = sig
  type 'a promise
  (** A promise of the style's library. *)

  val direct : (unit -> 'a) -> 'a promise
  (** [direct f] runs [f ()] in direct style, and returns a promise of its
      result.

      If [f] suspends, [direct] returns at once, and the rest of [f] runs when
      the operation has been resumed. Other tasks run meanwhile. If [f] raises,
      the promise fails with its exception.

      - {b Cancelled} while it waits, [f] gets the host's exception. It gets it
        again in each operation that has to wait from then on, except in
        {!Concord.Tasks.protect}. If the operation was resumed just before, it
        is undone, for example by giving its item back. If it can't be undone,
        or if the cancellation comes in [protect], the next waiting operation
        raises it. If there is none, the promise has the value of [f ()]. (With
        [Make] this cancellation is lost, unless the style's library repeats
        it.) *)

  val sync : 'a Event.t -> 'a promise
  (** [sync event] performs [event], like {!Concord.Event.sync}. Functions of
      {!Concord.Event.wrap} run as in {!direct}. *)

  val select : 'a Event.t list -> 'a promise
  (** [select events] performs exactly one of [events], the first one to become
      ready, like {!Concord.Event.select}. The others lose nothing. *)

  val sync_before : float -> 'a Event.t -> 'a option promise
  (** [sync_before seconds event] performs [event] and returns [Some] of its
      value, like {!Concord.Event.sync_before}. If it takes too long, the result
      is [None], and [event] has not been performed. *)

  val loop : 'a Event.t list -> ('a -> 'b option promise) -> 'b promise
  (** [loop events f] performs [events] again and again, like
      {!Concord.Event.loop}, except that [f] may wait. *)

  (** {2 The structures}

      Each structure has all of its functions. A function that blocks returns a
      promise here, which is resolved at once if it need not wait. The promise
      has the result of the direct function of this name, for example
      {!Concord.Mvar.take}, or fails with its exception. What differs is said
      below. If the result of a function argument is a promise, the function may
      wait. Until its promise has its value or has failed, a bracket holds what
      it has taken. Any other function argument, and a sequence, runs as in
      {!direct}.

      On a structure's page, functions returning a promise come last, under the
      heading "Operations that return a promise". The text before this heading
      comes from the direct module, for example {!Concord.Promise}, with
      examples in direct style.

      If a promise is {b cancelled} while it is pending, the operation has
      changed nothing, unless its documentation says so. If it was resumed just
      before, it is undone. (But what it has put, added or sent stays there.)
      {b Order} and {b cost} are those of the direct functions.

      In the examples, [let*] and [return] are those of the style, and the
      answer is the value of the promise, as utop prints it. The result of
      {!Concord.Tools.Monadic.Make} is open:

      {[
        # open Structures
      ]} *)

  (** A value that is available later.

      {[
        # let promise = Promise.create () in
          Promise.fill promise 42;
          let* answer = Promise.await promise in
          return (answer + 1)
        - : int = 43
      ]} *)
  module Promise : sig
    (** @inline *)
    include module type of struct
      include Promise
    end

    (** {1:promises Operations that return a promise} *)

    val await : 'a t -> 'a promise
    val await_result : 'a t -> ('a, exn) result promise
  end

  (** A box for one value.

      {[
        # let box = Mvar.create 1 in
          let* before = Mvar.swap box 2 in
          let* after = Mvar.take box in
          return (before, after)
        - : int * int = (1, 2)
      ]} *)
  module Mvar : sig
    (** @inline *)
    include module type of struct
      include Mvar
    end

    (** {1:promises Operations that return a promise} *)

    val put : 'a t -> 'a -> unit promise
    val take : 'a t -> 'a promise
    val read : 'a t -> 'a promise
    val swap : 'a t -> 'a -> 'a promise
    val modify : 'a t -> ('a -> 'a * 'b) -> 'b promise
  end

  (** A value computed once, when a task first needs it. *)
  module Lazy : sig
    (** @inline *)
    include module type of struct
      include Lazy
    end

    (** {1:promises Operations that return a promise} *)

    val force : 'a t -> 'a promise
    (** The computation runs as in {!direct}. *)

    val force_val : 'a t -> 'a promise
  end

  (** A channel without a buffer, where a sender and a receiver meet. *)
  module Channel : sig
    (** @inline *)
    include module type of struct
      include Channel
    end

    (** {1:promises Operations that return a promise} *)

    val send : 'a t -> 'a -> unit promise
    val send_seq : 'a t -> 'a Seq.t -> unit promise
    val receive : 'a t -> 'a promise

    (** @inline *)
    include Queues.S with type 'a promise := 'a promise and type 'a t := 'a t
  end

  (** A bounded queue.

      {[
        # let stream = Stream.create 2 in
          let* () = Stream.add stream "a" in
          let* () = Stream.add stream "b" in
          Stream.close stream;
          Stream.fold_s (fun all item -> return (all ^ item)) "" stream
        - : string = "ab"
      ]} *)
  module Stream : sig
    (** @inline *)
    include module type of struct
      include Stream
    end

    (** {1:promises Operations that return a promise} *)

    val add : 'a t -> 'a -> unit promise
    val add_seq : 'a t -> 'a Seq.t -> unit promise
    val take : 'a t -> 'a promise

    (** @inline *)
    include Queues.S with type 'a promise := 'a promise and type 'a t := 'a t
  end

  (** A bounded queue whose items can be withdrawn.

      {[
        # let jobs = Work_queue.create 2 in
          let* first = Work_queue.add jobs "first" in
          let* _ = Work_queue.add jobs "second" in
          let withdrawn = Work_queue.withdraw first in
          let* job = Work_queue.take jobs in
          return (withdrawn, job)
        - : bool * string = (true, "second")
      ]} *)
  module Work_queue : sig
    (** @inline *)
    include module type of struct
      include Work_queue
    end

    (** {1:promises Operations that return a promise} *)

    val add : 'a t -> 'a -> 'a ticket promise
    val add_seq : 'a t -> 'a Seq.t -> unit promise
    val take : 'a t -> 'a promise

    (** @inline *)
    include Queues.S with type 'a promise := 'a promise and type 'a t := 'a t
  end

  (** An unbounded queue. *)
  module Mailbox : sig
    (** @inline *)
    include module type of struct
      include Mailbox
    end

    (** {1:promises Operations that return a promise} *)

    val add_seq : 'a t -> 'a Seq.t -> unit promise
    val take : 'a t -> 'a promise

    (** @inline *)
    include Queues.S with type 'a promise := 'a promise and type 'a t := 'a t
  end

  (** Messages delivered to every subscriber.

      {[
        # let news = Broadcast.create () in
          let reader = Broadcast.subscribe news in
          let* () = Broadcast.send news "rain" in
          Broadcast.receive reader
        - : string = "rain"
      ]} *)
  module Broadcast : sig
    (** @inline *)
    include module type of struct
      include Broadcast
    end

    (** {1:promises Operations that return a promise} *)

    val send : 'a t -> 'a -> unit promise
    val send_seq : 'a t -> 'a Seq.t -> unit promise

    val with_subscription :
      'a t -> ('a subscription -> 'b promise) -> 'b promise

    val receive : 'a subscription -> 'a promise

    (** @inline *)
    include
      Queues.S
        with type 'a promise := 'a promise
         and type 'a t := 'a subscription
  end

  (** A changing value, and tasks waiting for the next change.

      {[
        # let limit = Watch.create 10 in
          let _, seen = Watch.read limit in
          Watch.set limit 20;
          let* value, _ = Watch.changed limit ~since:seen in
          return value
        - : int = 20
      ]} *)
  module Watch : sig
    (** @inline *)
    include module type of struct
      include Watch
    end

    (** {1:promises Operations that return a promise} *)

    val changed : 'a t -> since:version -> ('a * version) promise
  end

  (** A condition variable with a value. *)
  module Bvar : sig
    (** @inline *)
    include module type of struct
      include Bvar
    end

    (** {1:promises Operations that return a promise} *)

    val wait : 'a t -> 'a promise
  end

  (** Mutual exclusion.

      {[
        # let mutex = Mutex.create () and count = ref 0 in
          let* () = Mutex.with_lock mutex (fun () -> incr count; return ()) in
          return (Mutex.is_locked mutex, !count)
        - : bool * int = (false, 1)
      ]} *)
  module Mutex : sig
    (** @inline *)
    include module type of struct
      include Mutex
    end

    (** {1:promises Operations that return a promise} *)

    val lock : t -> unit promise

    val with_lock : t -> (unit -> 'a promise) -> 'a promise
    (** {!protect}, under the name of Lwt's function.

        - {b Cancelled} after it was given the lock, it calls [f], and the wait
          of [f] is cancelled. *)

    val protect : t -> (unit -> 'a promise) -> 'a promise

    val is_empty : t -> bool
    (** [is_empty t] is [waiters t = 0], as in [Lwt_mutex]. *)
  end

  (** Condition variables.

      {[
        # let mutex = Mutex.create () and changed = Condition.create () in
          let ready = ref false in
          let rec until_ready () =
            if !ready then return "ready"
            else
              let* () = Condition.wait changed mutex in
              until_ready ()
          in
          let prepare () =
            Concord.Mutex.protect mutex (fun () -> ready := true);
            Condition.signal changed
          in
          let thread = Thread.create prepare () in
          let* text = Mutex.with_lock mutex until_ready in
          Thread.join thread;
          return text
        - : string = "ready"
      ]} *)
  module Condition : sig
    (** @inline *)
    include module type of struct
      include Condition
    end

    (** {1:promises Operations that return a promise} *)

    val wait : t -> Mutex.t -> unit promise
    (** [wait t mutex] unlocks [mutex] and waits for a signal. When the promise
        is resolved, it has locked [mutex] again.

        - {b Cancelled}, it fails when it has locked the mutex again. If it had
          been signalled, it passes the signal on, to the task that has waited
          longest then. This differs from {!Condition.wait}, because the promise
          may have no other wait to raise the cancellation. (It does so after a
          broadcast too, which may wake a task whose wait began later.) *)

    val wait_no_mutex : t -> unit promise
    val loop_no_mutex : t -> (unit -> 'a option) -> 'a promise
  end

  (** Counting and binary semaphores. *)
  module Semaphore : sig
    (** A number of permits. *)
    module Counting : sig
      (** @inline *)
      include module type of struct
        include Semaphore.Counting
      end

      (** {1:promises Operations that return a promise} *)

      val acquire : t -> unit promise

      val with_permit : t -> (unit -> 'a promise) -> 'a promise
      (** It is cancelled like {!Mutex.with_lock}. *)

      val try_with_permit : t -> (unit -> 'a promise) -> 'a option promise
      val acquire_n : t -> int -> unit promise
      val with_permits : t -> int -> (unit -> 'a promise) -> 'a promise

      val try_with_permits :
        t -> int -> (unit -> 'a promise) -> 'a option promise
    end

    (** One permit or none. *)
    module Binary : sig
      (** @inline *)
      include module type of struct
        include Semaphore.Binary
      end

      (** {1:promises Operations that return a promise} *)

      val acquire : t -> unit promise
      val with_permit : t -> (unit -> 'a promise) -> 'a promise
      val try_with_permit : t -> (unit -> 'a promise) -> 'a option promise
    end
  end

  (** A lock for many readers or one writer.

      {[
        # let lock = Rwlock.create () and price = ref 1 in
          let* () =
            Rwlock.write lock (fun () -> price := 2; Rwlock.downgrade lock; return ())
          in
          let* price = Rwlock.read lock (fun () -> return !price) in
          return (price, Rwlock.try_write_lock lock)
        - : int * bool = (2, true)
      ]} *)
  module Rwlock : sig
    (** @inline *)
    include module type of struct
      include Rwlock
    end

    (** {1:promises Operations that return a promise} *)

    val read_lock : t -> unit promise
    val write_lock : t -> unit promise

    val read : t -> (unit -> 'a promise) -> 'a promise
    (** Like [write], it is cancelled like {!Mutex.with_lock}. *)

    val write : t -> (unit -> 'a promise) -> 'a promise
  end

  (** A meeting point for a fixed number of tasks. *)
  module Barrier : sig
    (** @inline *)
    include module type of struct
      include Barrier
    end

    (** {1:promises Operations that return a promise} *)

    val await : t -> unit promise
  end

  (** A count that opens a gate once, at zero. *)
  module Latch : sig
    (** @inline *)
    include module type of struct
      include Latch
    end

    (** {1:promises Operations that return a promise} *)

    val await : t -> unit promise
  end

  (** A pool of resources, such as connections.

      {[
        # let pool = Pool.create 2 (fun () -> ref 0) in
          Pool.use pool (fun count -> incr count; return !count)
        - : int = 1
      ]}

      The functions given to {!Concord.Pool.create} run as in {!direct}. *)
  module Pool : sig
    (** @inline *)
    include module type of struct
      include Pool
    end

    (** {1:promises Operations that return a promise} *)

    val use : 'a t -> ('a -> 'b promise) -> 'b promise
    (** It is cancelled like {!Mutex.with_lock}. *)

    val try_use : 'a t -> ('a -> 'b promise) -> 'b option promise

    val obtain : 'a t -> 'a lease promise
    (** [obtain t] is the first part of [use]. If it is cancelled after it was
        given the resource, it gives the resource back. *)

    val try_obtain : 'a t -> 'a lease option promise

    val give_back : keep:bool -> 'a lease -> unit promise
    (** [give_back ~keep lease] ends the lease, and waits where [dispose] does.
    *)

    val close : 'a t -> unit promise
    (** [close t] closes [t]. Like [clear] and [trim], it waits where the
        disposal of an idle resource does. *)

    val clear : 'a t -> unit promise
    val trim : 'a t -> unit promise
    val await_closed : 'a t -> unit promise
  end
end
