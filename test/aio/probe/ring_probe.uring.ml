(* Does the system have an io_uring for us? Not asked by way of the library. *)

let flags = Uring.Setup_flags.(coop_taskrun + taskrun_flag)

let () =
  match Uring.create ~flags ~queue_depth:2 () with
  | ring ->
      Uring.exit ring;
      print_endline "yes"
  | exception Unix.Unix_error _ -> print_endline "no"
