(* The hosts of this project, and those of its adapters that are always installed. *)

open Concord

module Fifo = struct
  let name = "Fifo"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None

  let run tasks =
    Concord_fifo.run @@ fun () ->
    List.iter
      (fun f -> ignore (Concord_fifo.fork f : Concord_fifo.handle))
      tasks

  let cancel =
    Some
      (fun f ~after ->
        let task = Concord_fifo.fork f in
        after ();
        Concord_fifo.cancel task;
        Concord_fifo.join task)
end

module Lazy_fifo = struct
  include Fifo

  let name = "Fifo, lazy"

  let run tasks =
    Concord_fifo.run ~cancellation:`Lazy (fun () -> Fifo.run tasks)
end

module Eio_fibers = struct
  let name = "Eio"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None
  let run tasks = Eio_main.run (fun _ -> Eio.Fiber.all tasks)
  let cancel = Some (fun f ~after -> Eio.Fiber.first f after)
end

module Domainslib_tasks = struct
  module Task = Domainslib.Task

  let name = "Domainslib"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None

  (* No further domain: who blocks this one blocks all tasks. *)
  let run tasks =
    let pool = Task.setup_pool ~num_domains:0 () in
    Task.run pool (fun () ->
        List.map (Task.async pool) tasks |> List.iter (Task.await pool));
    Task.teardown_pool pool

  let cancel = None
end

module Threads = struct
  let name = "thread"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None

  let run tasks =
    List.map (fun f -> Thread.create f ()) tasks |> List.iter Thread.join

  let cancel = None
end

module Domains = struct
  let name = "domain"
  let in_lwt = None
  let no_siblings = Some "each domain has one task"
  let main_domain_only = None
  let no_foreign = None
  let run tasks = List.map Domain.spawn tasks |> List.iter Domain.join
  let cancel = None
end

(* Monadic style: a wait is a promise of Lwt, and the task what is bound to it. *)
module Lwt_promises = struct
  let name = "Lwt"
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None
  let in_lwt = Some Concord_lwt.direct

  let run tasks =
    Concord_lwt.run (fun () -> Lwt.join (List.map Concord_lwt.direct tasks))

  let cancel =
    Some
      (fun f ~after ->
        let task = Concord_lwt.direct f in
        after ();
        Lwt.cancel task;
        let ended = Promise.create () in
        Lwt.on_termination task (Promise.fill ended);
        Promise.await ended)
end

module Lwt_tasks = struct
  let name = "Lwt_direct"
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None
  let in_lwt = Some Lwt_direct.spawn

  let run tasks =
    Concord_lwt.run (fun () -> Lwt.join (List.map Lwt_direct.spawn tasks))

  let cancel = None
end

module Within (Outer : Host.S) = struct
  include Fifo

  let name = "Fifo in " ^ Outer.name
  let run tasks = Outer.run [ (fun () -> Fifo.run tasks) ]
end

module In_eio = Within (Eio_fibers)

let with_eio : (module Host.S) list = [ (module Eio_fibers); (module In_eio) ]

let all : (module Host.S) list =
  [
    (module Fifo);
    (module Lazy_fifo);
    (module Eio_fibers);
    (module Domainslib_tasks);
    (module Threads);
    (module Domains);
    (module In_eio);
    (module Within (Domainslib_tasks));
    (module Lwt_promises);
    (module Lwt_tasks);
  ]
