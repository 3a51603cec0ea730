module Tasks = struct
  let name = "Miou"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = Some "Miou runs on the main domain only"
  let no_foreign = None

  let run tasks =
    Concord_miou.run ~domains:0 (fun () ->
        List.map (fun f -> Miou.async f) tasks |> List.iter Miou.await_exn)

  let cancel =
    Some
      (fun f ~after ->
        let begun = Concord.Promise.create () in
        let task =
          Miou.async (fun () ->
              Concord.Promise.fill begun ();
              f ())
        in
        Concord.Promise.await begun;
        after ();
        Miou.cancel task)
end

let hosts = Matrix.Present [ (module Tasks) ]
