(* One signature in place of the three. A value of type ['a t] is what a thread does until it
   has an ['a]. So a case is written once for the seven styles. *)

open Concord_styles

module type S = sig
  val name : string

  val is_light : bool
  (** Threads take turns, in a known order. *)

  val is_direct : bool

  type 'a t

  val return : 'a -> 'a t
  val ( let* ) : 'a t -> ('a -> 'b t) -> 'b t
  val spawn : (unit -> unit t) -> unit
  val yield : unit -> unit t

  val yield_outside : unit -> unit
  (** For code outside of all threads. *)

  val do_outside : 'a t -> ('a -> unit) -> unit
  val skip : unit -> unit t
  val halt : unit -> unit t
  val start : unit -> unit

  val stop : unit -> unit t
  (** For a thread. *)

  val stop_outside : unit -> unit
  val put : 'a Concord.Mvar.t -> 'a -> unit t
  val take : 'a Concord.Mvar.t -> 'a t
  val make_fifo : unit -> 'a Concord.Mailbox.t
  val put_fifo : 'a Concord.Mailbox.t -> 'a -> unit
  val take_fifo : 'a Concord.Mailbox.t -> 'a t
  val sync : 'a Concord.Event.t -> 'a t
  val direct : (unit -> 'a) -> 'a t
end

module Of_direct (D : Direct) = struct
  type 'a t = unit -> 'a

  let is_direct = true
  let return v () = v

  (* This isn't [f v ()] because if [f v] raised there, ThreadSanitizer would miscount the
     calls. See tools/tsan/run.sh. *)
  let then_perform f v =
    let t = f v in
    t ()

  let ( let* ) t f () = then_perform f (t ())
  let spawn f = D.spawn (fun () -> then_perform f ())
  let yield () () = D.yield ()
  let yield_outside = D.yield
  let do_outside t k = k (t ())
  let skip () () = D.skip
  let halt () () = D.halt ()
  let start = D.start
  let stop () () = D.stop ()
  let stop_outside = D.stop
  let put m v () = D.put_mvar m v
  let take m () = D.take_mvar m
  let make_fifo = D.make_fifo
  let put_fifo = D.put_fifo
  let take_fifo q () = D.take_fifo q
  let sync event () = D.sync event
  let direct f () = f ()
end

module Of_trampolined (T : Trampolined) = struct
  type 'a t = ('a -> unit) -> unit

  let is_light = true
  let is_direct = false
  let return v k = k v
  let ( let* ) t f k = T.(t >>= fun v -> f v k)
  let spawn f = T.spawn (T.close (fun k -> f () k))
  let yield () k = T.yield k
  let yield_outside () = T.yield ignore
  let do_outside t k = t k
  let skip () k = T.skip k
  let halt () _ = T.halt ()
  let start = T.start

  let stop () k =
    T.stop ();
    k ()

  let stop_outside = T.stop
  let put = T.put_mvar
  let take = T.take_mvar
  let make_fifo = T.make_fifo
  let put_fifo = T.put_fifo
  let take_fifo = T.take_fifo
  let sync = T.sync
  let direct = T.direct
end

module Of_monadic (M : sig
  include Monadic

  val perform : unit t -> unit
end) =
struct
  type 'a t = 'a M.t

  let is_light = true
  let is_direct = false
  let return = M.return
  let ( let* ) = M.( >>= )
  let spawn = M.spawn
  let yield = M.yield
  let yield_outside () = M.perform (M.yield ())
  let do_outside t k = M.perform (M.( let+ ) t k)
  let skip () = M.skip
  let halt = M.halt
  let start = M.start
  let stop = M.stop
  let stop_outside () = ignore (M.stop () : unit M.t)
  let put = M.put_mvar
  let take = M.take_mvar
  let make_fifo = M.make_fifo
  let put_fifo = M.put_fifo
  let take_fifo = M.take_fifo
  let sync = M.sync
  let direct = M.direct
end

module Threads = struct
  include Of_direct (Threads)

  let name = "Threads"
  let is_light = false
end

module Callcc = struct
  include Of_direct (Callcc)

  let name = "Callcc"
  let is_light = true
end

module Delimited = struct
  include Of_direct (Delimited)

  let name = "Delimited"
  let is_light = true
end

module Trampoline = struct
  include Of_trampolined (Trampoline)

  let name = "Trampoline"
end

module Continuation = struct
  include Of_monadic (struct
    include Continuation

    let perform t = t ignore
  end)

  let name = "Continuation"
end

module Promise = struct
  include Of_monadic (struct
    include Promise

    let perform = ignore
  end)

  let name = "Promise"
end

module Events = struct
  include Of_trampolined (Events)

  let name = "Events"
end

type style = (module S)

let all : style list =
  [
    (module Threads);
    (module Callcc);
    (module Delimited);
    (module Trampoline);
    (module Continuation);
    (module Promise);
    (module Events);
  ]

let name (module S : S) = S.name
let light = List.filter (fun (module S : S) -> S.is_light) all

type direct = string * (module Direct)

let direct : direct list =
  [
    ("Threads", (module Concord_styles.Threads));
    ("Callcc", (module Concord_styles.Callcc));
    ("Delimited", (module Concord_styles.Delimited));
  ]

(* Runs [f ()] in a thread that is alone, and which may call functions in direct style. *)
let in_thread (module S : S) f =
  let result = ref None in
  S.spawn (fun () ->
      let open S in
      let* v = S.direct f in
      result := Some v;
      return ());
  S.start ();
  Option.get !result
