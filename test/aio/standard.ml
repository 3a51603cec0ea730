(* Writes to both standard channels. The first one may be broken. *)

let () =
  match
    Concord_aio.(
      run (fun () ->
          output_string stdout "output";
          output_string stderr "error"))
  with
  | () -> ()
  | exception Sys_error e -> prerr_endline (": " ^ e)
