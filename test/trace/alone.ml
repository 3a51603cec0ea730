(* Is traced by the tests: a program without the library. *)

let () = print_endline "alone"
