open Picos_std_structured

(* If Picos's schedulers run on several domains, Picos requires this call on the main domain,
   before there are others. *)
let () = Picos_io_select.configure ()
let blocks = ("inside", "the loop blocks its thread")

module Make (Scheduler : sig
  val name : string
  val run : (unit -> 'a) -> 'a
  val not_offered : (string * string) list
end) =
struct
  let name = Scheduler.name

  type t = Bundle.t
  type task = unit Promise.t

  let run f = Scheduler.run (fun () -> Bundle.join_after f)
  let spawn = Bundle.fork_as_promise
  let yield = Picos.Fiber.yield
  let cancel = Some (fun _ task -> Promise.terminate task)
  let is_cancellation = function Control.Terminate -> true | _ -> false
  let not_offered = blocks :: Scheduler.not_offered
end

module Fifo = Make (struct
  let name = "Picos, fifo"
  let run f = Concord_picos.using (fun () -> Picos_mux_fifo.run f)
  let not_offered = []
end)

module Multififo = Make (struct
  let name = "Picos, multififo"

  let run f =
    Concord_picos.using (fun () -> Picos_mux_multififo.run_on ~n_domains:2 f)

  let not_offered = []
end)
