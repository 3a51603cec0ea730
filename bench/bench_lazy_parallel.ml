open Case

(* A chain of lazy values, of which each has a message and the next one. One side forces
   the first, whose computation takes a message of the other side; the other sends it
   and then forces the same. A side that comes late finds the value, and so catches up;
   usually one side computes while the other one waits. *)

module Chain (Lazy : sig
  type 'a t

  val from_fun : (unit -> 'a) -> 'a t
  val force : 'a t -> 'a
end) (Box : sig
  type t

  val create : unit -> t
  val put : t -> int -> unit
  val take : t -> int
end) =
struct
  type chain = { message : int; next : chain Lazy.t }

  let pass (shape : Host.shape) n =
    let box = Box.create () in
    let rec compute () =
      let message = Box.take box in
      { message; next = Lazy.from_fun compute }
    in
    let first = Lazy.from_fun compute in
    let here = ref first and there = ref first in
    let produce n =
      for i = 1 to n do
        Box.put box i;
        there := (Lazy.force !there).next
      done
    in
    let consume n =
      let sum = ref 0 in
      for _ = 1 to n do
        let { message; next } = Lazy.force !here in
        sum := !sum + message;
        here := next
      done;
      !sum
    in
    shape ~produce ~consume n
end

module Concord_chain =
  Chain
    (struct
      include Concord.Lazy

      let from_fun f = from_fun f
    end)
    (struct
      type t = int Concord.Mvar.t

      let create () = Concord.Mvar.create_empty ()
      let put = Concord.Mvar.put
      let take = Concord.Mvar.take
    end)

module Eio_chain =
  Chain
    (struct
      type 'a t = 'a Eio.Lazy.t

      let from_fun f = Eio.Lazy.from_fun ~cancel:`Restart f
      let force = Eio.Lazy.force
    end)
    (struct
      type t = int Eio.Stream.t

      let create () = Eio.Stream.create 1
      let put = Eio.Stream.add
      let take = Eio.Stream.take
    end)

let parallel =
  let case = "lazy-parallel" in
  {
    title =
      "a lazy value that takes a message, forced on a domain while another one \
       sends the message and waits for the value (eio: the message is in a \
       stream; picos: in a field between two semaphores; go: sync.OnceValue)";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (Eio_chain.pass (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          Concord_chain.pass (Host.parallel host))
      @ [ go case; picos case elsewhere ];
  }

let comparisons = [ parallel ]
