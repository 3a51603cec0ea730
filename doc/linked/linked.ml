(* When mdx sees the type of Lwt's promises, it requires "lwt.unix", so that it can run a
   phrase of such a type. But Lwt is already linked into the program that executes the pages.
   Without these records, findlib would load a second copy, and the pages' Lwt_main.run and
   sleep would belong to another Lwt than Concord_lwt's. *)
let () =
  List.iter
    (Findlib.record_package Record_load)
    [ "lwt"; "lwt.unix"; "lwt_direct" ]

(* One wait before any other domain runs, so that Concord knows Eio's handler. Otherwise a page's
   first wait makes an unhandled effect while a domain starts, and OCaml's interpreter may crash
   (ocaml/ocaml#14644, corrected in 5.5). *)
let () =
  Eio_main.run (fun _ ->
      let first = Concord.Promise.create () in
      Eio.Fiber.both
        (fun () -> Concord.Promise.await first)
        (fun () -> Concord.Promise.fill first ()))
