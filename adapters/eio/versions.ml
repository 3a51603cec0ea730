(* Usage: ocaml versions.ml VERSION. Fails if concord-eio was not tested with this version of
   Eio. A checkout of Eio has no version, so there the compiler finds differences in
   private_interface.ml. *)
let () =
  match Scanf.sscanf_opt Sys.argv.(1) "%_[v]%d.%d" (fun a b -> (a, b)) with
  | Some version when version < (1, 2) || version > (1, 6) ->
      Printf.eprintf
        "concord-eio is for Eio 1.2 to 1.6, because it uses Eio's private \
         interface, but this is Eio %s. Use one of those, or a release of \
         Concord for this one.\n"
        Sys.argv.(1);
      exit 1
  | Some _ | None -> print_string "()"
