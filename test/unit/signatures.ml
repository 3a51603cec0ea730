[@@@warning "-unused-value-declaration"]

(* What is said to replace a module has its whole interface: this compiles. *)

module _ : module type of Stdlib__Mutex = Concord.Mutex
module _ : module type of Stdlib__Semaphore = Concord.Semaphore
module _ : module type of Event = Concord.Event

module type Condition = sig
  type t

  val create : unit -> t
  val wait : t -> Concord.Mutex.t -> unit
  val signal : t -> unit
  val broadcast : t -> unit
end

module _ : Condition = Concord.Condition

(* [Eio.Stream], without [dump]. *)
module type Stream = sig
  type 'a t

  val create : int -> 'a t
  val add : 'a t -> 'a -> unit
  val take : 'a t -> 'a
  val take_nonblocking : 'a t -> 'a option
  val length : 'a t -> int
  val is_empty : 'a t -> bool
end

module _ : Stream = Concord.Stream
module _ : Stream = Eio.Stream
