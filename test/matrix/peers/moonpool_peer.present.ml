open Moonpool

(* The tasks run on a domain of the pool. *)
module Pool = struct
  let name = "Moonpool"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = Some "Domain_local_await does not know of a pool's threads"
  let cancel = Peer_fibers.cancel

  let run tasks =
    Fifo_pool.with_ ~num_threads:1 () @@ fun pool ->
    List.map (fun f -> Fut.spawn ~on:pool f) tasks
    |> List.iter Fut.wait_block_exn
end

let hosts = Matrix.Present [ (module Pool) ]
