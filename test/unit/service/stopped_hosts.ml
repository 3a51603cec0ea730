let in_pool f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () -> Domainslib.Task.run pool f)

let () =
  Roles.main
    [
      ("eio", fun f -> Eio_main.run (fun _ -> f ()));
      ("pool", in_pool);
      ("lwt", fun f -> Concord_lwt.run (fun () -> Concord_lwt.direct f));
      ("lwt_direct", fun f -> Lwt_main.run (Lwt_direct.spawn f));
    ]
