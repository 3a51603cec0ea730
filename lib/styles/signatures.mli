(** The three signatures of "Light Weight Concurrency in OCaml" (Figures 4 to
    6), and what they have in common. *)

module type Boxes = sig
  type 'a mvar = 'a Concord.Mvar.t

  val make_mvar : unit -> 'a mvar
  (** An empty box: {!Concord.Mvar.create_empty}. *)

  type 'a fifo = 'a Concord.Mailbox.t

  val make_fifo : unit -> 'a fifo
  (** An empty queue: {!Concord.Mailbox.create}. *)

  val put_fifo : 'a fifo -> 'a -> unit
  (** Never waits, and needs no thread. *)
end

(** A thread is an ordinary function, and may use whatever suspends: all
    structures of Concord, Eio or a pool's tasks through them. *)
module type Direct = sig
  include Boxes

  val spawn : (unit -> unit) -> unit
  val yield : unit -> unit
  val skip : unit
  val halt : unit -> unit
  val start : unit -> unit
  val stop : unit -> unit
  val put_mvar : 'a mvar -> 'a -> unit
  val take_mvar : 'a mvar -> 'a
  val take_fifo : 'a fifo -> 'a
  val sync : 'a Concord.Event.t -> 'a
end

(** A thread says what is to be done next: each operation that may wait takes
    the function to be called when it has been performed. *)
module type Trampolined = sig
  include Boxes

  val ( >>= ) : (('a -> unit) -> unit) -> ('a -> unit) -> unit
  (** Application: [operation >>= k] is [operation k]. *)

  val spawn : (unit -> unit) -> unit

  val close : ((unit -> unit) -> unit) -> unit -> unit
  (** [spawn (close f)] spawns a thread of an operation that wants to know what
      to do next: nothing. *)

  val yield : (unit -> unit) -> unit
  val skip : (unit -> unit) -> unit
  val halt : unit -> unit
  val start : unit -> unit
  val stop : unit -> unit
  val put_mvar : 'a mvar -> 'a -> (unit -> unit) -> unit
  val take_mvar : 'a mvar -> ('a -> unit) -> unit
  val take_fifo : 'a fifo -> ('a -> unit) -> unit
  val sync : 'a Concord.Event.t -> ('a -> unit) -> unit

  val direct : (unit -> 'a) -> ('a -> unit) -> unit
  (** [direct f] runs [f], which is written in direct style and may wait. *)
end

(** A thread is a value that stands for what it does. *)
module type Monadic = sig
  include Boxes

  type 'a t

  val return : 'a -> 'a t
  val ( >>= ) : 'a t -> ('a -> 'b t) -> 'b t
  val ( let* ) : 'a t -> ('a -> 'b t) -> 'b t
  val ( let+ ) : 'a t -> ('a -> 'b) -> 'b t
  val spawn : (unit -> unit t) -> unit
  val yield : unit -> unit t
  val skip : unit t
  val halt : unit -> unit t
  val start : unit -> unit
  val stop : unit -> unit t
  val put_mvar : 'a mvar -> 'a -> unit t
  val take_mvar : 'a mvar -> 'a t
  val take_fifo : 'a fifo -> 'a t
  val sync : 'a Concord.Event.t -> 'a t

  val direct : (unit -> 'a) -> 'a t
  (** [direct f] runs [f], which is written in direct style and may wait. *)
end
