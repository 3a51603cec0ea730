[@@@warning "-unused-value-declaration"]

(* A module that claims to replace another one has its whole interface. It is enough that
   this compiles. *)

module _ : module type of Stdlib__Mutex = Concord.Mutex
module _ : module type of Stdlib__Semaphore = Concord.Semaphore
module _ : module type of Event = Concord.Event

(* Both kinds of events can be used in one program. *)
module _ = struct
  module Threads_event = Event
  open Concord

  let both (stdlib : int Threads_event.event) (ours : int Event.t) :
      int option * int option =
    (Threads_event.poll stdlib, Event.poll ours)
end

module type Condition = sig
  type t

  val create : unit -> t
  val wait : t -> Concord.Mutex.t -> unit
  val signal : t -> unit
  val broadcast : t -> unit
end

module _ : Condition = Concord.Condition

(* [Eio.Stream] without [dump]. *)
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

(* [Stdlib.Lazy] except for [from_fun], which has an optional argument in ours. *)
module type Lazy = sig
  type 'a t

  exception Undefined

  val force : 'a t -> 'a
  val map : ('a -> 'b) -> 'a t -> 'b t
  val is_val : 'a t -> bool
  val from_val : 'a -> 'a t
  val map_val : ('a -> 'b) -> 'a t -> 'b t
  val force_val : 'a t -> 'a
end

module _ : Lazy = Concord.Lazy
module _ : Lazy = Stdlib.Lazy

(* Nevertheless ours can be used in place of Stdlib's. *)
module type From_fun = sig
  type 'a t

  val from_fun : (unit -> 'a) -> 'a t
  val two : int t list
end

module _ : From_fun = struct
  type 'a t = 'a Concord.Lazy.t

  let from_fun f = Concord.Lazy.from_fun f
  let two = List.map Concord.Lazy.from_fun [ (fun () -> 1); (fun () -> 2) ]
end

module _ : From_fun = struct
  include Stdlib.Lazy

  let two = List.map Stdlib.Lazy.from_fun [ (fun () -> 1); (fun () -> 2) ]
end

(* [Eio.Lazy], in which the argument [cancel] is required. *)
module type Eio_lazy = sig
  type 'a t

  val from_fun :
    cancel:[ `Restart | `Record | `Protect ] -> (unit -> 'a) -> 'a t

  val from_val : 'a -> 'a t
  val force : 'a t -> 'a
end

module _ : Eio_lazy = Eio.Lazy

module _ : Eio_lazy = struct
  include Concord.Lazy

  let from_fun ~cancel f = from_fun ~cancel f
end
