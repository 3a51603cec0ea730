module A = Concord_async

module Host = struct
  let name = "Async"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None

  let no_foreign =
    Some "Concord_async.go only has them wait, and does not return"

  let cancel = None

  let run tasks =
    Async.Thread_safe.block_on_async_exn (fun () ->
        Async.Deferred.all_unit (List.map A.direct tasks))
end

let run () =
  Matrix.run_with ~peers:Peers.beside_async (module Host) ~title:"With Async"
