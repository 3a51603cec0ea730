type t = { run_lwt : 'a. (unit -> 'a Lwt.t) -> 'a }

let run =
  Some
    (fun f ->
      Eio_main.run (fun env ->
          Lwt_eio.with_event_loop ~clock:(Eio.Stdenv.clock env) (fun _ ->
              f { run_lwt = Lwt_eio.run_lwt })))
