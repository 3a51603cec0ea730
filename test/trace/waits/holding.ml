(* Keeps the process of the argument still until it is killed. *)

let () =
  Concord_waits.Stopped.within
    (int_of_string Sys.argv.(1))
    (fun () ->
      print_endline "ready";
      ignore (In_channel.input_all stdin : string))
