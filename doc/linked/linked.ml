(* mdx requires "lwt.unix" by itself as soon as it sees the type of Lwt's promises, so
   that it can run a phrase of such a type. But Lwt is linked into the program that
   executes the pages: a second copy would be loaded, and the pages' Lwt_main.run and
   sleep would belong to another Lwt than Concord_lwt's. *)
let () =
  List.iter
    (Findlib.record_package Record_load)
    [ "lwt"; "lwt.unix"; "lwt_direct" ]
