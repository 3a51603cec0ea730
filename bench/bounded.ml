type t = { add : int -> unit; take : unit -> int }

let room = 100

module Of (Mutex : sig
  type t

  val create : unit -> t
  val protect : t -> (unit -> 'a) -> 'a
end) (Condition : sig
  type t

  val create : unit -> t
  val wait : t -> Mutex.t -> unit
  val signal : t -> unit
end) =
struct
  let make ?(capacity = room) () =
    let m = Mutex.create () and q = Queue.create () in
    let not_empty = Condition.create () and not_full = Condition.create () in
    let add v =
      Mutex.protect m (fun () ->
          while Queue.length q = capacity do
            Condition.wait not_full m
          done;
          Queue.add v q;
          Condition.signal not_empty)
    and take () =
      Mutex.protect m (fun () ->
          while Queue.is_empty q do
            Condition.wait not_empty m
          done;
          let v = Queue.take q in
          Condition.signal not_full;
          v)
    in
    { add; take }
end

module Of_stdlib = Of (Mutex) (Condition)
module Of_concord = Of (Concord.Mutex) (Concord.Condition)

let stdlib = Of_stdlib.make
let concord () = Of_concord.make ()

let stream () =
  let t = Concord.Stream.create room in
  {
    add = (fun v -> Concord.Stream.add t v);
    take = (fun () -> Concord.Stream.take t);
  }

let eio () =
  let t = Eio.Stream.create room in
  { add = (fun v -> Eio.Stream.add t v); take = (fun () -> Eio.Stream.take t) }
