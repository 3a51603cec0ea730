(** The three signatures of the paper, and what they have in common.

    What the operations do to the threads of a set is said in {!Concord_styles}.
    Those that wait are {!Concord.Mvar.put}, {!Concord.Mvar.take},
    {!Concord.Mailbox.take} and {!Concord.Event.sync}: order, cost and
    exceptions are those of these. A thread that is ended while it waits has put
    and taken nothing. *)

(** What threads exchange values in: the boxes and queues of {!Concord}, in
    which threads of other styles and tasks of all hosts wait too. *)
module type Boxes = sig
  type 'a mvar = 'a Concord.Mvar.t

  val make_mvar : unit -> 'a mvar
  (** An empty box: {!Concord.Mvar.create_empty}. *)

  type 'a fifo = 'a Concord.Mailbox.t

  val make_fifo : unit -> 'a fifo
  (** An empty queue: {!Concord.Mailbox.create}. *)

  val put_fifo : 'a fifo -> 'a -> unit
  (** {!Concord.Mailbox.put}. It never waits, so that it is the same in all
      styles; the caller may be anywhere. *)
end

(** Direct style (Figure 4): a thread is an ordinary function. It may use
    whatever suspends, all of {!Concord}, and what is built on that.

    The operations that wait may also be called outside of threads. *)
module type Direct = sig
  include Boxes

  val spawn : (unit -> unit) -> unit
  (** [spawn f] adds a thread that calls [f ()]. Never waits; O(1). *)

  val yield : unit -> unit
  (** Goes on after the threads that are ready now. O(1).

      - {b Raises} [Invalid_argument] outside of threads ([Threads.yield] lets
        other system threads run).

      @raise Concord_styles.Ended if the set was stopped meanwhile. *)

  val skip : unit
  (** Nothing. *)

  val halt : unit -> unit
  (** Ends the calling thread, by an exception: does not return.
      @raise Concord_styles.Ended always. *)

  val start : unit -> unit
  (** Runs the threads that were spawned, until none is left.

      - {b Suspends} the calling task while all threads wait.
      - {b Cancelled} then: the threads are ended, and the host's exception is
        raised.
      - {b Raises} [e] if a thread raised [e].
      - {b Raises} [Invalid_argument] if a thread of this style calls it.

      @raise Concord_styles.Deadlock
        if threads are left that nothing could resume. *)

  val stop : unit -> unit
  (** Ends all threads of the set, the calling one by an exception.
      @raise Concord_styles.Ended if a thread calls it. *)

  val put_mvar : 'a mvar -> 'a -> unit
  (** - {b Suspends} while the box is full. *)

  val take_mvar : 'a mvar -> 'a
  (** - {b Suspends} while the box is empty. *)

  val take_fifo : 'a fifo -> 'a
  (** - {b Suspends} while the queue is empty.

      @raise Concord.Mailbox.Closed if it is closed, and empty. *)

  val sync : 'a Concord.Event.t -> 'a
  (** - {b Suspends} while the event must wait.
      - {b Raises} [e] if the event raises [e]. *)
end

(** Trampolined style (Figure 5): a thread says what is to be done next. Each
    operation that may wait takes the function that is called when it has been
    performed: at once, or later by the scheduler. What such an operation raises
    ends the set; no [try] of the thread is around it any more.

    An operation that has to wait may be called by threads only.

    - {b Raises} [Invalid_argument] elsewhere. *)
module type Trampolined = sig
  include Boxes

  val ( >>= ) : (('a -> unit) -> unit) -> ('a -> unit) -> unit
  (** Application: [operation >>= k] is [operation k]. *)

  val spawn : (unit -> unit) -> unit
  (** [spawn f] adds a thread that begins by [f ()]. Never waits; O(1). *)

  val close : ((unit -> unit) -> unit) -> unit -> unit
  (** [spawn (close f)] is a thread that does [f], which takes what is to be
      done next: here nothing. *)

  val yield : (unit -> unit) -> unit
  (** [yield k]: [k ()] is called after the threads that are ready now. O(1). *)

  val skip : (unit -> unit) -> unit
  (** [skip k] is [k ()]. *)

  val halt : unit -> unit
  (** Nothing: a thread that calls no operation any more has ended. *)

  val start : unit -> unit
  (** As in {!Direct}. *)

  val stop : unit -> unit
  (** Ends all threads of the set.
      @raise Concord_styles.Ended if a thread calls it. *)

  val put_mvar : 'a mvar -> 'a -> (unit -> unit) -> unit
  (** Waits while the box is full. *)

  val take_mvar : 'a mvar -> ('a -> unit) -> unit
  (** Waits while the box is empty. *)

  val take_fifo : 'a fifo -> ('a -> unit) -> unit
  (** Waits while the queue is empty.
      @raise Concord.Mailbox.Closed if it is closed, and empty. *)

  val sync : 'a Concord.Event.t -> ('a -> unit) -> unit
  (** Waits while the event must wait.

      - {b Raises} [e] if the event raises [e]. *)

  val direct : (unit -> 'a) -> ('a -> unit) -> unit
  (** [direct f k] calls [f], which is written in direct style and may wait in
      any structure: the thread waits, on a small stack. Then [k] is called. If
      the set is stopped meanwhile, [Concord_styles.Ended] is raised in [f].

      - {b Raises} [e] if [f] raises [e]. *)
end

(** Monadic style (Figure 6): what a thread does is a value. *)
module type Monadic = sig
  include Boxes

  type 'a t
  (** What gives an ['a], perhaps after waiting. *)

  val return : 'a -> 'a t
  (** Gives the value, at once. *)

  val ( >>= ) : 'a t -> ('a -> 'b t) -> 'b t
  (** [t >>= f] does [t], and then what [f] makes of its value. What [f] raises
      after [t] has waited ends the set; no [try] of the thread is around it any
      more. *)

  val ( let* ) : 'a t -> ('a -> 'b t) -> 'b t
  (** {!val-(>>=)}. *)

  val ( let+ ) : 'a t -> ('a -> 'b) -> 'b t
  (** [let+ v = t in e] is [t >>= fun v -> return e]. *)

  val spawn : (unit -> unit t) -> unit
  (** [spawn f] adds a thread that does [f ()]. Never waits; O(1). *)

  val yield : unit -> unit t
  (** Goes on after the threads that are ready now. O(1). *)

  val skip : unit t
  (** Nothing. *)

  val halt : unit -> unit t
  (** Never goes on. *)

  val start : unit -> unit
  (** As in {!Direct}. *)

  val stop : unit -> unit t
  (** Ends all threads of the set, when it is called. Outside of threads the
      result never goes on.
      @raise Concord_styles.Ended if a thread calls it. *)

  val put_mvar : 'a mvar -> 'a -> unit t
  (** Waits while the box is full. *)

  val take_mvar : 'a mvar -> 'a t
  (** Waits while the box is empty. *)

  val take_fifo : 'a fifo -> 'a t
  (** Waits while the queue is empty.
      @raise Concord.Mailbox.Closed if it is closed, and empty. *)

  val sync : 'a Concord.Event.t -> 'a t
  (** Waits while the event must wait.

      - {b Raises} [e] if the event raises [e]. *)

  val direct : (unit -> 'a) -> 'a t
  (** [direct f] calls [f], which is written in direct style and may wait in any
      structure: the thread waits, on a small stack. If the set is stopped
      meanwhile, [Concord_styles.Ended] is raised in [f].

      - {b Raises} [e] if [f] raises [e]. *)
end
