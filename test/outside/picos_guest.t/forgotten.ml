(* Picos is not configured, and its first scheduler runs in another domain. *)

let () =
  match Domain.join (Domain.spawn (fun () -> Picos_mux_fifo.run ignore)) with
  | () -> print_endline "it ran"
  | exception e -> print_endline (Printexc.to_string e)
