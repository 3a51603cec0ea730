open Picos_std_structured

(* Picos must be configured by the main thread. *)
let () = Picos_mux_fifo.run ignore

module Scheduler (S : sig
  val name : string
  val run : (unit -> unit) -> unit
end) =
struct
  let name = "Picos, " ^ S.name
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None
  let run tasks = S.run (fun () -> Run.all tasks)
  let cancel = Peer_fibers.cancel
end

module Fifo = Scheduler (struct
  let name = "fifo"
  let run f = Picos_mux_fifo.run f
end)

(* It is registered. Otherwise a wait through [Domain_local_await] would block the thread,
   often before the sibling has begun. *)
module Random = Scheduler (struct
  let name = "random"
  let run f = Concord_picos.using (fun () -> Picos_mux_random.run f)
end)

module Thread = Scheduler (struct
  let name = "thread"
  let run f = Picos_mux_thread.run f
end)

(* Its fibers move from domain to domain. *)
module Multififo = Scheduler (struct
  let name = "multififo"
  let run f = Picos_mux_multififo.run_on ~n_domains:2 f
end)

let hosts =
  Matrix.Present
    [ (module Fifo); (module Random); (module Multififo); (module Thread) ]
