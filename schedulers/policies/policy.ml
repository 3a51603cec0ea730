type reason = Forked | Resumed | Yielded

module type S = sig
  val name : string

  type priority

  val default : priority

  type 'a t

  val create : unit -> 'a t
  val add : 'a t -> priority -> reason -> 'a -> unit
  val take : 'a t -> 'a option
  val is_empty : 'a t -> bool
end

module Fifo = struct
  let name = "Fifo"

  type priority = unit

  let default = ()

  type 'a t = 'a Queue.t

  let create = Queue.create
  let add t () _ task = Queue.add task t
  let take = Queue.take_opt
  let is_empty = Queue.is_empty
end

module Lifo = struct
  let name = "Lifo"

  type priority = unit

  let default = ()

  type 'a t = { latest : 'a Stack.t; yielded : 'a Queue.t }

  let create () = { latest = Stack.create (); yielded = Queue.create () }

  let add t () reason task =
    match reason with
    | Forked | Resumed -> Stack.push task t.latest
    | Yielded -> Queue.add task t.yielded

  let take t =
    match Stack.pop_opt t.latest with
    | Some _ as task -> task
    | None -> Queue.take_opt t.yielded

  let is_empty t = Stack.is_empty t.latest && Queue.is_empty t.yielded
end

(* Tasks with the lowest priority come first. Among equal ones, the order is that of arrival. *)
module Ordered (Priority : Map.OrderedType) = struct
  module Priorities = Map.Make (Priority)

  (* There are no empty queues in [queues], so [take] finds a task in the first one. *)
  type 'a t = { mutable queues : 'a Queue.t Priorities.t }

  let create () = { queues = Priorities.empty }

  let add t priority _ task =
    match Priorities.find_opt priority t.queues with
    | Some queue -> Queue.add task queue
    | None ->
        let queue = Queue.create () in
        Queue.add task queue;
        t.queues <- Priorities.add priority queue t.queues

  let take t =
    match Priorities.min_binding_opt t.queues with
    | None -> None
    | Some (priority, queue) ->
        let task = Queue.take queue in
        if Queue.is_empty queue then
          t.queues <- Priorities.remove priority t.queues;
        Some task

  let is_empty t = Priorities.is_empty t.queues
end

module Levels = struct
  include Ordered (Int)

  let name = "Levels"

  type priority = int

  let default = 0
end

module Deadline = struct
  (* [Float.compare] puts [nan] first. A policy must not raise, so here it comes last. *)
  module Time = struct
    type t = float

    let compare a b =
      match (Float.is_nan a, Float.is_nan b) with
      | false, false -> Float.compare a b
      | a, b -> Bool.compare a b
  end

  include Ordered (Time)

  let name = "Deadline"

  type priority = float

  let default = infinity
end
