(* The modules of the core have no index, because odoc would show their types under its name. The other
   libraries open [Concord__core__], which dune makes. *)
