(** Reading a queue to its end, for {!Stream}, {!Work_queue}, {!Mailbox},
    {!Channel} and the subscriptions of {!Broadcast}. *)

(** A queue with an end. *)
module type Queue = sig
  type 'a t

  val take : 'a t -> 'a
  (** Raises {!Errors.Closed} if the queue is closed and empty. *)

  val take_evt : 'a t -> 'a Event.t
end

module type S = sig
  type 'a t

  (** {2 Reading to the end}

      These functions return normally at the end, instead of raising {!Closed}.

      {[
        # let words = Mailbox.create ()
        val words : '_weak1 Mailbox.t = <abstr>
        # Mailbox.add_seq words (List.to_seq [ "a"; "b"; "c" ])
        - : unit = ()
        # Mailbox.close words; Mailbox.next words
        - : string option = Some "a"
        # Mailbox.iter print_string words
        bc
        - : unit = ()
        # Mailbox.next words
        - : string option = None
      ]} *)

  val next : 'a t -> 'a option
  (** [next t] removes the next item [v] and returns [Some v], or returns [None]
      if [t] is closed and empty.

      It never raises {!Closed}. Tasks reading from [t] are served in the order
      in which they arrived.

      - {b Suspends} while [t] is empty and not closed. *)

  val next_evt : 'a t -> 'a option Event.t
  (** [next_evt t] is the event of {!next}. In a choice, its [None] can only
      mean the end of [t]. *)

  val iter : ('a -> unit) -> 'a t -> unit
  (** [iter f t] calls [f v] for each item [v], until [t] is closed and empty.

      Each item is removed before [f] is called. If [f] raises, [iter] raises
      too, and the items behind this one stay in [t]. Several tasks may iterate
      over the same [t]. Then each item goes to one of them.

      - {b Suspends} where {!next} and [f] do. *)

  val fold : ('acc -> 'a -> 'acc) -> 'acc -> 'a t -> 'acc
  (** [fold f acc t] is [f (... (f (f acc v1) v2) ...) vn], where [v1] to [vn]
      are the items until [t] is closed and empty.

      - {b Suspends} where {!next} and [f] do. *)

  val to_seq : 'a t -> 'a Seq.t
  (** [to_seq t] is the sequence of the items of [t] until its end.

      The sequence is ephemeral, because forcing any part of it calls {!next}.
      An item is only removed when it is needed. If you force the same part
      twice, the second time removes and returns another item. ([Seq.once] makes
      this an error. [Seq.memoize] keeps the items, but only for one task.) *)
end

module Make (Queue : Queue) : S with type 'a t := 'a Queue.t
