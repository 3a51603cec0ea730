(* concord-miou is among the libraries, but no line names it. *)

let () =
  Miou_unix.run @@ fun () ->
  match Concord.Mvar.take (Concord.Mvar.create_empty ()) with
  | () -> print_endline "a value from nowhere"
  | exception Invalid_argument message -> print_endline message
