module Host = struct
  let name = "Miou"
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = Some "Miou runs on the main domain only"
  let no_foreign = None

  let cancel =
    Some
      (fun f ~after ->
        let task = Miou.async f in
        In_miou.settle ();
        after ();
        Miou.cancel task)

  let run tasks = In_miou.run (fun () -> In_miou.all tasks)
end

let run () = Matrix.run_with ~peers:[] (module Host) ~title:"With Miou"
