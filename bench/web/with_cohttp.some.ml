let serve ~text socket =
  let callback _ _ _ =
    Cohttp_lwt_unix.Server.respond_string ~status:`OK ~body:text ()
  in
  Cohttp_lwt_unix.Server.create
    ~mode:(`TCP (`Socket socket))
    (Cohttp_lwt_unix.Server.make ~callback ())
