(* Replaces Stdlib's modules in a copy of the library's source. Hooks are called where OCaml
   may run a signal handler: in [Condition.wait] before it sleeps, and in [Mutex.lock]
   before it blocks. *)

let nothing () = ()
let before_sleeping = Atomic.make nothing
let before_blocking = Atomic.make nothing

(* Counts the sleeping threads that have continued. *)
let wakings = Atomic.make 0
let call hook = (Atomic.get hook) ()

(* [f] is called at the next use of [hook] only. *)
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
