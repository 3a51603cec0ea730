(** The three signatures of the paper, and their common operations.

    {!Concord_styles} says how the operations affect the threads of a set. The
    blocking operations are {!Concord.Mvar.put}, {!Concord.Mvar.take},
    {!Concord.Mailbox.take} and {!Concord.Event.sync}, with the same order, cost
    and exceptions. If a thread is ended while it waits, it has put and taken
    nothing. *)

(** Boxes and queues, in which threads exchange values. They are those of
    {!Concord}, so threads of other styles and tasks of all hosts can wait in
    them too. *)
module type Boxes = sig
  (** {2 Boxes and queues} *)

  type 'a mvar = 'a Concord.Mvar.t

  val make_mvar : unit -> 'a mvar
  (** [make_mvar ()] is an empty box, by {!Concord.Mvar.create_empty}. *)

  type 'a fifo = 'a Concord.Mailbox.t

  val make_fifo : unit -> 'a fifo
  (** [make_fifo ()] is an empty queue, by {!Concord.Mailbox.create}. *)

  val put_fifo : 'a fifo -> 'a -> unit
  (** [put_fifo] is {!Concord.Mailbox.add}. It never waits, so it is the same in
      all styles, and you can call it anywhere. *)
end

(** Direct style (Figure 4). A thread is an ordinary function. It may use all
    suspending operations, {!Concord}'s own and those built on them.

    You can also call the blocking operations outside threads. *)
module type Direct = sig
  include Boxes

  (** {2 Threads} *)

  val spawn : (unit -> unit) -> unit
  (** [spawn f] adds a thread for [f ()]. Never waits, O(1). *)

  val yield : unit -> unit
  (** [yield ()] lets the ready threads run, and then continues. O(1).

      - {b Raises} [Invalid_argument] outside threads. ([Threads.yield] lets
        other system threads run instead.)
      - {b Raises} {!Concord_styles.Ended} if the set was stopped meanwhile. *)

  val skip : unit
  (** [skip] does nothing. *)

  val halt : unit -> unit
  (** [halt ()] ends the calling thread, by an exception, so it doesn't return.

      - {b Raises} {!Concord_styles.Ended} always. *)

  val start : unit -> unit
  (** [start ()] runs the spawned threads, until none is left.

      - {b Suspends} the calling task while all threads wait.
      - {b Cancelled} then, it ends the threads, and raises the host's
        exception.
      - {b Raises} [e] if a thread raised [e].
      - {b Raises} [Invalid_argument] if a thread of this style calls it.
      - {b Raises} {!Concord_styles.Deadlock} if threads are left and nothing
        could resume them. *)

  val stop : unit -> unit
  (** [stop ()] ends all threads of the set, the calling one by an exception.

      - {b Raises} {!Concord_styles.Ended} if a thread calls it. *)

  (** {2 Operations that wait} *)

  val put_mvar : 'a mvar -> 'a -> unit
  (** [put_mvar box v] puts [v] into [box].

      - {b Suspends} while the box is full. *)

  val take_mvar : 'a mvar -> 'a
  (** [take_mvar box] removes the value of [box].

      - {b Suspends} while the box is empty. *)

  val take_fifo : 'a fifo -> 'a
  (** [take_fifo queue] removes the first item of [queue].

      - {b Suspends} while the queue is empty.
      - {b Raises} {!Concord.Mailbox.Closed} if the queue is closed, and empty.
  *)

  val sync : 'a Concord.Event.t -> 'a
  (** [sync event] performs [event].

      - {b Suspends} while the event must wait.
      - {b Raises} [e] if the event raises [e]. *)
end

(** Trampolined style (Figure 5). A thread passes the rest of its work as a
    function to each blocking operation. The function is called when the
    operation has been performed, either at once, or later by the scheduler. If
    such an operation raises, the set ends, because no [try] of the thread is
    around it any more.

    Only threads may call an operation if it has to wait.

    - {b Raises} [Invalid_argument] elsewhere. *)
module type Trampolined = sig
  include Boxes

  (** {2 Threads} *)

  val ( >>= ) : (('a -> unit) -> unit) -> ('a -> unit) -> unit
  (** [operation >>= k] is [operation k], an application. *)

  val spawn : (unit -> unit) -> unit
  (** [spawn f] adds a thread that begins with [f ()]. Never waits, O(1). *)

  val close : ((unit -> unit) -> unit) -> unit -> unit
  (** [close f] is a function for {!spawn}. [spawn (close f)] is a thread for
      [f], whose argument is the rest of the work, which is nothing here. *)

  val yield : (unit -> unit) -> unit
  (** [yield k] calls [k ()] after the threads that are ready now. O(1). *)

  val skip : (unit -> unit) -> unit
  (** [skip k] is [k ()]. *)

  val halt : unit -> unit
  (** [halt ()] does nothing, because a thread has ended once it calls no
      operation. *)

  val start : unit -> unit
  (** As in {!Direct}. *)

  val stop : unit -> unit
  (** [stop ()] ends all threads of the set.

      - {b Raises} {!Concord_styles.Ended} if a thread calls it. *)

  (** {2 Operations that wait} *)

  val put_mvar : 'a mvar -> 'a -> (unit -> unit) -> unit
  (** [put_mvar box v k] puts [v] into [box], then calls [k]. It waits while the
      box is full. *)

  val take_mvar : 'a mvar -> ('a -> unit) -> unit
  (** [take_mvar box k] removes the value of [box], then calls [k] with it. It
      waits while the box is empty. *)

  val take_fifo : 'a fifo -> ('a -> unit) -> unit
  (** [take_fifo queue k] removes the first item of [queue], then calls [k] with
      it. It waits while the queue is empty.

      - {b Raises} {!Concord.Mailbox.Closed} if the queue is closed, and empty.
  *)

  val sync : 'a Concord.Event.t -> ('a -> unit) -> unit
  (** [sync event k] performs [event], then calls [k] with its value. It waits
      while the event must wait.

      - {b Raises} [e] if the event raises [e]. *)

  val direct : (unit -> 'a) -> ('a -> unit) -> unit
  (** [direct f k] calls [f], which is written in direct style and may wait in
      any structure, and then calls [k].

      If [f] waits, the thread waits, on a small stack. If the set is stopped
      meanwhile, [f] gets [Concord_styles.Ended].

      - {b Raises} [e] if [f] raises [e]. *)
end

(** Monadic style (Figure 6). The work of a thread is a value. *)
module type Monadic = sig
  include Boxes

  (** {2 Computations} *)

  type 'a t
  (** A computation of an ['a], perhaps after waiting. *)

  val return : 'a -> 'a t
  (** [return v] returns [v] at once. *)

  val ( >>= ) : 'a t -> ('a -> 'b t) -> 'b t
  (** [t >>= f] runs [t], and then [f] with its value. If [f] raises after [t]
      has waited, the set ends, because no [try] of the thread is around it any
      more. *)

  val ( let* ) : 'a t -> ('a -> 'b t) -> 'b t
  (** [let*] is {!val-(>>=)}. *)

  val ( let+ ) : 'a t -> ('a -> 'b) -> 'b t
  (** [let+ v = t in e] is [t >>= fun v -> return e]. *)

  (** {2 Threads} *)

  val spawn : (unit -> unit t) -> unit
  (** [spawn f] adds a thread for [f ()]. Never waits, O(1). *)

  val yield : unit -> unit t
  (** [yield ()] lets the ready threads run, and then continues. O(1). *)

  val skip : unit t
  (** [skip] does nothing. *)

  val halt : unit -> unit t
  (** [halt ()] never continues. *)

  val start : unit -> unit
  (** As in {!Direct}. *)

  val stop : unit -> unit t
  (** [stop ()] ends all threads of the set, when it is called. Outside threads
      the result never continues.

      - {b Raises} {!Concord_styles.Ended} if a thread calls it. *)

  (** {2 Operations that wait} *)

  val put_mvar : 'a mvar -> 'a -> unit t
  (** [put_mvar box v] puts [v] into [box], and waits while the box is full. *)

  val take_mvar : 'a mvar -> 'a t
  (** [take_mvar box] removes the value of [box], and waits while the box is
      empty. *)

  val take_fifo : 'a fifo -> 'a t
  (** [take_fifo queue] removes the first item of [queue], and waits while the
      queue is empty.

      - {b Raises} {!Concord.Mailbox.Closed} if the queue is closed, and empty.
  *)

  val sync : 'a Concord.Event.t -> 'a t
  (** [sync event] performs [event], and waits while the event must wait.

      - {b Raises} [e] if the event raises [e]. *)

  val direct : (unit -> 'a) -> 'a t
  (** [direct f] calls [f], which is written in direct style and may wait in any
      structure.

      If [f] waits, the thread waits, on a small stack. If the set is stopped
      meanwhile, [f] gets [Concord_styles.Ended].

      - {b Raises} [e] if [f] raises [e]. *)
end
