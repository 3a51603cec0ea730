(** Reading a queue to its end: what {!Stream}, {!Mailbox}, {!Channel} and the
    subscriptions of {!Broadcast} have in common. *)

(** A queue that can be closed. *)
module type Queue = sig
  type 'a t

  val take : 'a t -> 'a
  (** @raise Errors.Closed once it is closed and has no more items. *)

  val take_evt : 'a t -> 'a Event.t
end

module type S = sig
  type 'a t

  (** {2 To the end}

      The end is a value here, not {!Closed}.

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
  (** [next t] is [Some v] with the next item [v], which it removes; or [None]
      once [t] is closed and has no more. It never raises {!Closed}.

      - {b Suspends} while there is neither.
      - {b Cancelled} while suspended: nothing was removed.
      - {b Order}: that of arrival, among all that take from [t].
      - {b Cost}: O(1), also to withdraw (amortised). *)

  val next_evt : 'a t -> 'a option Event.t
  (** The event of {!next}. In a choice its [None] is the end of [t] and of
      nothing else. *)

  val iter : ('a -> unit) -> 'a t -> unit
  (** [iter f t] is [f v] for each [v] that {!next} gives, until [None]. Each
      item is removed before [f] is called: if [f] raises, so does [iter], and
      the items behind this one stay in [t]. Several tasks may do this with one
      [t]: each item goes to one of them.

      - {b Suspends} where {!next} and [f] do.
      - {b Cancelled} while suspended in {!next}: nothing was removed. *)

  val fold : ('acc -> 'a -> 'acc) -> 'acc -> 'a t -> 'acc
  (** [fold f acc t] is [f (... (f (f acc v1) v2) ...) vn], where [v1] to [vn]
      are what {!next} gives until [None]. Suspends, and is cancelled, as
      {!iter}. *)

  val to_seq : 'a t -> 'a Seq.t
  (** [to_seq t] is the items of [t] until its end. It is ephemeral: to force
      any part of it is {!next}, and suspends as that. So nothing is removed
      before it is wanted; forced a second time, the same part removes and gives
      another item. ([Seq.once] makes that an error, and [Seq.memoize] keeps the
      items, for one task alone.) *)
end

module Make (Queue : Queue) : S with type 'a t := 'a Queue.t
