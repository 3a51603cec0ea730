(* Traced by the tests. A program without the library. *)

let () = print_endline "alone"
