(* Everything that reads a queue to its end, made of [take] and [take_evt]. The end is the
   exception [Closed] there, and [None] or a normal return here. *)
module type Queue = sig
  type 'a t

  val take : 'a t -> 'a
  val take_evt : 'a t -> 'a Event.t
end

module type S = sig
  type 'a t

  val next : 'a t -> 'a option
  val next_evt : 'a t -> 'a option Event.t
  val iter : ('a -> unit) -> 'a t -> unit
  val fold : ('acc -> 'a -> 'acc) -> 'acc -> 'a t -> 'acc
  val to_seq : 'a t -> 'a Seq.t
end

let at_end = function
  | Errors.Closed -> None
  | e -> Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())

module Make (Queue : Queue) = struct
  let next t =
    match Queue.take t with v -> Some v | exception Errors.Closed -> None

  let next_evt t =
    Event.wrap_handler (Event.wrap (Queue.take_evt t) Option.some) at_end

  let rec fold f acc t =
    match next t with None -> acc | Some v -> fold f (f acc v) t

  let iter f t = fold (fun () v -> f v) () t
  let to_seq t = Seq.of_dispenser (fun () -> next t)
end
