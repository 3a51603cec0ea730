(* Stdlib's, for a copy of the library's source. Functions are called where OCaml may
   call a signal handler: on top of [Condition.wait] that is about to sleep, and on top
   of [Mutex.lock] that is about to block. *)

let nothing () = ()
let before_sleeping = Atomic.make nothing
let before_blocking = Atomic.make nothing

(* How often a thread that slept went on. *)
let wakings = Atomic.make 0
let call hook = (Atomic.get hook) ()

(* [hook] is called the next time only. *)
let once hook f =
  Atomic.set hook (fun () ->
      Atomic.set hook nothing;
      f ())

module Stdlib = struct
  include Stdlib

  module Condition = struct
    include Stdlib.Condition

    let wait condition mutex =
      call before_sleeping;
      wait condition mutex;
      Atomic.incr wakings
  end

  module Mutex = struct
    include Stdlib.Mutex

    let try_lock mutex = Atomic.get before_blocking == nothing && try_lock mutex

    let lock mutex =
      call before_blocking;
      lock mutex
  end
end
