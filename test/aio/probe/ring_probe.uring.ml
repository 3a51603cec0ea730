(* Whether this process may use an io_uring. This doesn't use the library under test. *)

let flags = Uring.Setup_flags.(coop_taskrun + taskrun_flag)

let () =
  match Uring.create ~flags ~queue_depth:2 () with
  | ring ->
      Uring.exit ring;
      print_endline "yes"
  | exception Unix.Unix_error _ -> print_endline "no"
