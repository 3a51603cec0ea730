(** The functions of {!Reader} in monadic style. *)

(** What each queue has. *)
module type S = sig
  type 'a promise
  type 'a t

  type 'a sink
  (** Where items are added. *)

  val add_seq : 'a sink -> 'a Seq.t -> unit promise
  (** Adds each item of the sequence, which is forced as in [direct]; waits
      where adding waits. *)

  (** {2 To the end}

      A task can read a queue in this way as long as it likes: others have their
      turns. [to_seq] is for code in [direct], as to force it suspends in direct
      style. *)

  val next : 'a t -> 'a option promise
  (** The next item; [None] once the queue is closed and has no more: it never
      fails with [Closed]. *)

  val iter : ('a -> unit) -> 'a t -> unit promise
  (** [iter f t] calls [f] for each item, until the end. [f] does not wait. If
      it raises, the promise fails with that, and the items behind this one
      stay. *)

  val iter_s : ('a -> unit promise) -> 'a t -> unit promise
  (** As {!iter}, for a function that may wait: the next item is removed when
      the promise of the one before has its value. *)

  val fold : ('acc -> 'a -> 'acc) -> 'acc -> 'a t -> 'acc promise
  (** [fold f acc t] is [f (... (f (f acc v1) v2) ...) vn] for the items [v1] to
      [vn] until the end. [f] does not wait. *)

  val fold_s : ('acc -> 'a -> 'acc promise) -> 'acc -> 'a t -> 'acc promise
  (** As {!fold}, for a function that may wait. *)
end

(** A queue whose two ends are one value. *)
module type Both = sig
  type 'a t

  (** @inline *)
  include S with type 'a t := 'a t and type 'a sink := 'a t
end

(** What is needed of a {!Style.Style}. *)
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
      type 'a sink

      val take : 'a t -> 'a Style.t
      val add : 'a sink -> 'a -> unit Style.t
    end) :
  S
    with type 'a promise := 'a Style.t
     and type 'a t := 'a Queue.t
     and type 'a sink := 'a Queue.sink
