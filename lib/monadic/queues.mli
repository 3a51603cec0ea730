(** The functions of {!Reader} in monadic style. *)

(** The functions by which each queue is read. *)
module type S = sig
  type 'a promise
  type 'a t

  (** {2 To the end}

      A task can read a queue by these functions as long as it likes, because
      other tasks run meanwhile. [to_seq] is for code in [direct], because
      forcing it suspends in direct style. *)

  val next : 'a t -> 'a option promise
  (** [next t] returns the next item, or [None] once the queue is closed and has
      no more. It never fails with [Closed]. *)

  val iter : ('a -> unit) -> 'a t -> unit promise
  (** [iter f t] calls [f] for each item, until the end.

      [f] does not wait. If [f] raises, the promise fails with the same
      exception, and the items after this one stay in the queue. *)

  val iter_s : ('a -> unit promise) -> 'a t -> unit promise
  (** [iter_s f t] is {!iter}, except that [f] may wait. The next item is
      removed when the promise of the one before has its value. *)

  val fold : ('acc -> 'a -> 'acc) -> 'acc -> 'a t -> 'acc promise
  (** [fold f acc t] is [f (... (f (f acc v1) v2) ...) vn] for the items [v1] to
      [vn] until the end. [f] does not wait. *)

  val fold_s : ('acc -> 'a -> 'acc promise) -> 'acc -> 'a t -> 'acc promise
  (** [fold_s f acc t] is {!fold}, except that [f] may wait. *)
end

(** The functions that a {!Style.Style} has to provide. *)
module type Style = sig
  type 'a t

  val return : 'a -> 'a t
  val fail : exn -> Printexc.raw_backtrace -> 'a t
  val bind : 'a t -> ('a -> 'b t) -> 'b t
  val try_bind : (unit -> 'a t) -> ('a -> 'b t) -> (exn -> 'b t) -> 'b t

  val direct : (unit -> 'a) -> 'a t
  (** As in {!Style.S}. *)
end

module Make
    (Style : Style)
    (Queue : sig
      type 'a t

      val take : 'a t -> 'a Style.t
    end) : S with type 'a promise := 'a Style.t and type 'a t := 'a Queue.t

module Adding (Style : Style) : sig
  val each : ('a -> unit Style.t) -> 'a Seq.t -> unit Style.t
  (** [each add seq] is [add v] for each item [v] of [seq], one after the other.
  *)
end
