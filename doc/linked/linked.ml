(* When mdx sees the type of Lwt's promises, it requires "lwt.unix", so that it can run a
   phrase of such a type. But Lwt is already linked into the program that executes the pages.
   Without these records, findlib would load a second copy, and the pages' Lwt_main.run and
   sleep would belong to another Lwt than Concord_lwt's. *)
let () =
  List.iter
    (Findlib.record_package Record_load)
    [ "lwt"; "lwt.unix"; "lwt_direct" ]
