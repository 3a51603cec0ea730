open Case

(* A chain of lazy values, each of which has a message and the next lazy value. One side forces
   the first value, and its computation receives a message from the other side. The other side
   sends the message, and then forces the same value. Sending waits until the message has been
   received. Otherwise the sender could force the value first, receive its own message, and
   finish the whole chain before the other side has begun. *)

module Chain (Lazy : sig
  type 'a t

  val from_fun : (unit -> 'a) -> 'a t
  val force : 'a t -> 'a
end) (Channel : sig
  type t

  val create : unit -> t
  val send : t -> int -> unit
  val receive : t -> int
end) =
struct
  type chain = { message : int; next : chain Lazy.t }

  let pass (shape : Host.shape) n =
    let channel = Channel.create () in
    let rec compute () =
      let message = Channel.receive channel in
      { message; next = Lazy.from_fun compute }
    in
    let first = Lazy.from_fun compute in
    let here = ref first and there = ref first in
    let produce n =
      for i = 1 to n do
        Channel.send channel i;
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
      type t = int Concord.Channel.t

      let create () = Concord.Channel.create ()
      let send = Concord.Channel.send
      let receive = Concord.Channel.receive
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

      let create () = Eio.Stream.create 0
      let send = Eio.Stream.add
      let receive = Eio.Stream.take
    end)

let parallel =
  let case = "lazy-parallel" in
  {
    title =
      "a lazy value that receives a message, forced on a domain while another \
       one sends the message, by a rendezvous, and then forces the value too \
       (eio: a stream of 0; picos: semaphores; go: sync.OnceValue)";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (Eio_chain.pass (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          Concord_chain.pass (Host.parallel host))
      @ [ go case; picos case elsewhere ];
  }

let comparisons = [ parallel ]
