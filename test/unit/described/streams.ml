open Results

(* The operations that these structures have in common. *)
module type Queue = sig
  type t

  val name : string
  val capacity : int
  val create : unit -> t
  val add : t -> int -> unit
  val try_add : t -> int -> bool
  val add_evt : t -> int -> unit Event.t option
  val take : t -> int
  val try_take : t -> int option
  val take_evt : t -> int Event.t
  val drain : t -> int list
  val close : t -> unit
  val is_closed : t -> bool
  val length : t -> int
  val waiters : t -> int
end

module Of (Q : Queue) = struct
  include Stream_spec.Make (Q)

  type t = Q.t

  let create = Q.create

  let call t operation =
    closed @@ fun () ->
    match operation with
    | Add v -> unit (Q.add t v)
    | Take -> int (Q.take t)
    | Drain -> String.concat " " (List.map int (Q.drain t))
    | Close -> unit (Q.close t)
    | Is_closed -> bool (Q.is_closed t)
    | Length -> int (Q.length t)

  let event t = function
    | Add v -> Option.bind (Q.add_evt t v) (closing_event unit)
    | Take -> closing_event int (Q.take_evt t)
    | Drain | Close | Is_closed | Length -> None

  let try_call t = function
    | Add v ->
        tried_closing (fun () -> if Q.try_add t v then Some "()" else None)
    | Take -> tried_closing (fun () -> Option.map int (Q.try_take t))
    | Drain | Close | Is_closed | Length -> None

  let waiters = Q.waiters
end

module type Capacity = sig
  val capacity : int
end

module Of_stream (C : Capacity) = Of (struct
  include (Stream : module type of Stream with type 'a t := 'a Stream.t)
  include C

  type t = int Stream.t

  let name = Printf.sprintf "Stream of %d" C.capacity
  let create () = Stream.create C.capacity
  let add_evt t v = Some (Stream.add_evt t v)
end)

module Of_one = Of_stream (struct
  let capacity = 1
end)

module Of_three = Of_stream (struct
  let capacity = 3
end)

(* [drain] removes the items a little later than it sees them. So it isn't exact beside an
   addition, but beside others that take. *)
module Filled = struct
  include Of_three

  let initial = { initial with items = [ 100; 101; 102 ] }
  let operations _ = [ Take; Take; Take; Drain; Length; Is_closed ]
  let beside = function Drain -> beside Length | other -> beside other

  let create () =
    let t = create () in
    List.iter (Stream.add t) initial.items;
    t
end

module Of_mailbox = Of (struct
  include (Mailbox : module type of Mailbox with type 'a t := 'a Mailbox.t)

  type t = int Mailbox.t

  let name = "Mailbox"
  let capacity = max_int
  let create () = Mailbox.create ()

  let try_add t v =
    Mailbox.add t v;
    true

  let add_evt _ _ = None
end)
